SELECT setseed(0.5);
CREATE FUNCTION pg_temp.id_of(n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(encode(sha256(convert_to('name' || n, 'UTF8')), 'hex'), 32)
$$;
CREATE TEMPORARY TABLE named AS SELECT n, pg_temp.id_of(n) AS id FROM generate_series(0, %(entities)s - 1) AS n;
CREATE UNIQUE INDEX ON named (n) INCLUDE (id);
CREATE TEMPORARY TABLE drawn (number bigint, source integer, target integer, kind text, weight float8);
INSERT INTO drawn
SELECT n, 0, n, 'CO_OCCURS', 1 FROM generate_series(1, %(hub)s) AS n;
INSERT INTO drawn
SELECT
    %(hub)s + n,
    (%(entities)s * power(random(), 2.5))::integer %% %(entities)s,
    (%(entities)s * random())::integer %% %(entities)s,
    (ARRAY['CO_OCCURS', 'CO_OCCURS', 'USES', 'DEPENDS_ON'])[1 + n %% 4],
    1 + n %% 7
FROM generate_series(1, %(relations)s - %(hub)s) AS n;
CREATE TEMPORARY TABLE placed AS
SELECT n, chunk, 'c' || chunk AS chunk_id, md5((chunk / 30)::text)::uuid AS document_id
FROM generate_series(1, %(mentions)s) AS n
CROSS JOIN LATERAL (SELECT n %% (%(mentions)s / 12) AS chunk) AS place;
CREATE UNIQUE INDEX ON placed (n);
INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
SELECT %(workspace)s, source.id, target.id, drawn.kind, drawn.weight, 1
FROM drawn
INNER JOIN named AS source ON source.n = drawn.source
INNER JOIN named AS target ON target.n = drawn.target
WHERE drawn.source <> drawn.target
ON CONFLICT DO NOTHING;
INSERT INTO relation_evidence (
    workspace_id, document_id, number, source_id, target_id, source_name_id, target_name_id, relation_type, chunk_id,
    weight, confidence, span_start, span_end, method, phrase
)
SELECT
    %(workspace)s, placed.document_id, drawn.number, source.id, target.id, source.id, target.id, drawn.kind,
    placed.chunk_id, 2, 0.9, 0, 40, 'pattern', lower(drawn.kind)
FROM drawn
INNER JOIN named AS source ON source.n = drawn.source
INNER JOIN named AS target ON target.n = drawn.target
INNER JOIN placed ON placed.n = drawn.number
WHERE drawn.kind <> 'CO_OCCURS' AND drawn.source <> drawn.target;
INSERT INTO entity (workspace_id, id, name_key, name, entity_type, mentions, documents, aliases, outgoing, incoming)
SELECT
    %(workspace)s, named.id, 'name' || n, 'Name ' || n, (ARRAY['PERSON', 'ORG', 'SERVICE', 'GPE'])[1 + n %% 4], 1, 1,
    '{}', coalesce(outgoing.number, 0), coalesce(incoming.number, 0)
FROM named
LEFT JOIN (
    SELECT source_id, count(*) AS number FROM relation WHERE workspace_id = %(workspace)s GROUP BY source_id
) AS outgoing ON outgoing.source_id = named.id
LEFT JOIN (
    SELECT target_id, count(*) AS number FROM relation WHERE workspace_id = %(workspace)s GROUP BY target_id
) AS incoming ON incoming.target_id = named.id;
INSERT INTO mention (
    workspace_id, document_id, number, entity_id, name_id, name_key, chunk_id, surface, surface_key, entity_type,
    span_start, span_end, sentence_start, sentence_end, about
)
SELECT
    %(workspace)s, placed.document_id, placed.n, named.id, named.id, 'name' || named.n, placed.chunk_id,
    'Name ' || named.n, 'name' || named.n, 'PERSON', 0, 4, 0, 40,
    CASE WHEN placed.n <= %(mentions)s / 12 THEN 'title' WHEN placed.n <= %(mentions)s / 6 THEN 'subject' END
FROM (
    SELECT
        placed.*,
        CASE
            WHEN n <= %(entities)s THEN n - 1 ELSE (%(entities)s * power(random(), 2.5))::integer %% %(entities)s
        END AS drawn
    FROM placed
) AS placed
INNER JOIN named ON named.n = placed.drawn;
UPDATE entity SET mentions = counted.number, documents = counted.documents
FROM (
    SELECT entity_id, count(*) AS number, count(DISTINCT document_id) AS documents
    FROM mention
    WHERE workspace_id = %(workspace)s
    GROUP BY entity_id
) AS counted
WHERE entity.workspace_id = %(workspace)s AND entity.id = counted.entity_id;
INSERT INTO name (workspace_id, id, hash, name_key, entity_id, own, evidence, is_known)
SELECT workspace_id, id, hashtextextended(id, 0), name_key, id, mentions, 0, true
FROM entity
WHERE workspace_id = %(workspace)s;
INSERT INTO surface (workspace_id, entity_id, surface, entity_type, surface_key, uses)
SELECT workspace_id, id, name, entity_type, name_key, mentions
FROM entity
WHERE workspace_id = %(workspace)s;
INSERT INTO graphed_document (workspace_id, document_id, version, name, chunks, entities, relations, method, chunks_key)
SELECT DISTINCT
    %(workspace)s::uuid, document_id, 1, 'x', 30, 1, 1, 'patterns', 'benchmark/' || (chunk / 30) || '.jsonl'
FROM placed;
DROP TABLE named, drawn, placed;
DROP FUNCTION pg_temp.id_of
