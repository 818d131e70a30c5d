SELECT setseed(0.5);
CREATE TEMPORARY TABLE IF NOT EXISTS drawn (source integer, target integer, kind text, weight float8);
TRUNCATE drawn;
INSERT INTO drawn
SELECT 0, n, 'CO_OCCURS', 1 FROM generate_series(1, %(hub)s) AS n;
INSERT INTO drawn
SELECT
    (%(entities)s * power(random(), 2.5))::integer %% %(entities)s,
    (%(entities)s * random())::integer %% %(entities)s,
    (ARRAY['CO_OCCURS', 'CO_OCCURS', 'USES', 'DEPENDS_ON'])[1 + n %% 4],
    1 + n %% 7
FROM generate_series(1, %(relations)s - %(hub)s) AS n;
INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
SELECT %(workspace)s, lpad(to_hex(source), 32, '0'), lpad(to_hex(target), 32, '0'), kind, weight, 1
FROM drawn WHERE source <> target
ON CONFLICT DO NOTHING;
INSERT INTO entity (workspace_id, id, name_key, name, entity_type, mentions, documents, aliases, outgoing, incoming)
SELECT
    %(workspace)s, lpad(to_hex(n), 32, '0'), 'name' || n, 'Name ' || n, 'CONCEPT', 1, 1, '{}',
    coalesce(outgoing.number, 0), coalesce(incoming.number, 0)
FROM generate_series(0, %(entities)s - 1) AS n
LEFT JOIN (
    SELECT source_id, count(*) AS number FROM relation WHERE workspace_id = %(workspace)s GROUP BY source_id
) AS outgoing ON outgoing.source_id = lpad(to_hex(n), 32, '0')
LEFT JOIN (
    SELECT target_id, count(*) AS number FROM relation WHERE workspace_id = %(workspace)s GROUP BY target_id
) AS incoming ON incoming.target_id = lpad(to_hex(n), 32, '0');
INSERT INTO mention (
    workspace_id, document_id, number, entity_id, name_id, name_key, chunk_id, surface, surface_key, entity_type,
    span_start, span_end
)
SELECT
    %(workspace)s, md5((place.chunk / 30)::text)::uuid, n, one.id, one.id, 'name', 'c' || place.chunk, 'Name', 'name',
    'CONCEPT', 0, 4
FROM generate_series(1, %(mentions)s) AS n
CROSS JOIN LATERAL (SELECT n %% (%(mentions)s / 12) AS chunk) AS place
CROSS JOIN LATERAL (
    SELECT lpad(to_hex(
        CASE WHEN n <= %(entities)s THEN n - 1 ELSE (%(entities)s * power(random(), 2.5))::integer %% %(entities)s END
    ), 32, '0') AS id
) AS one;
UPDATE entity SET mentions = counted.number
FROM (SELECT entity_id, count(*) AS number FROM mention WHERE workspace_id = %(workspace)s GROUP BY entity_id) AS counted
WHERE entity.workspace_id = %(workspace)s AND entity.id = counted.entity_id;
INSERT INTO graphed_document (workspace_id, document_id, version, name, chunks, entities, relations, method)
SELECT DISTINCT %(workspace)s::uuid, document_id, 1, 'x', 30, 1, 1, 'patterns'
FROM mention WHERE workspace_id = %(workspace)s
