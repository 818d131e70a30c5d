-- name: delete_mentions
WITH gone AS (
    DELETE FROM mention
    WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
    RETURNING document_id, entity_id, name_id, name_key, surface, surface_key, entity_type, origin, states_type
)
SELECT
    document_id, entity_id, name_id, min(name_key) AS name_key, surface, min(surface_key) AS surface_key, entity_type,
    origin <> 'known' AS is_own, count(*)::integer AS uses, count(*) FILTER (WHERE states_type)::integer AS stated
FROM gone
GROUP BY document_id, entity_id, name_id, surface, entity_type, origin <> 'known';

-- name: delete_evidence
WITH gone AS (
    DELETE FROM relation_evidence
    WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
    RETURNING source_id, target_id, relation_type, weight, status = 'current' AND closed_by IS NULL AS counts
)
SELECT
    source_id, target_id, relation_type, sum(weight)::double precision AS weight, count(*)::integer AS evidence, counts
FROM gone
GROUP BY source_id, target_id, relation_type, counts;

-- name: delete_alias_evidence
WITH gone AS (
    DELETE FROM alias_evidence
    WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
    RETURNING alias_id, alias_key, target_id, target_key
)
SELECT alias_id, min(alias_key) AS alias_key, target_id, min(target_key) AS target_key, count(*)::integer AS evidence
FROM gone
GROUP BY alias_id, target_id;

-- name: delete_candidates
-- Returns the number of chunks with candidates, by hash.
WITH gone AS (
    DELETE FROM candidates
    WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
    RETURNING document_id, chunk_id, hashes
)
SELECT one.hash, count(DISTINCT (gone.document_id, gone.chunk_id))::integer AS chunks
FROM gone CROSS JOIN LATERAL unnest(gone.hashes) AS one (hash)
GROUP BY one.hash;

-- name: insert_mentions
-- Arrays, because COPY cannot write to tables with row-level security.
WITH added AS (
    INSERT INTO mention (
        workspace_id, document_id, number, name_id, name_key, chunk_id, surface, surface_key, entity_type, span_start,
        span_end, about, sentence_start, sentence_end, origin, states_type, entity_id
    )
    SELECT %(workspace_id)s, rows.*, name.entity_id
    FROM unnest(
        %(document_ids)s::uuid[], %(numbers)s::integer[], %(name_ids)s::text[], %(name_keys)s::text[], %(chunk_ids)s::text[],
        %(surfaces)s::text[], %(surface_keys)s::text[], %(types)s::text[], %(starts)s::integer[], %(ends)s::integer[],
        %(abouts)s::text[], %(sentence_starts)s::integer[], %(sentence_ends)s::integer[], %(origins)s::text[],
        %(states_types)s::boolean[]
    ) AS rows (
        document_id, number, name_id, name_key, chunk_id, surface, surface_key, entity_type, span_start, span_end, about,
        sentence_start, sentence_end, origin, states_type
    )
    INNER JOIN name ON name.workspace_id = %(workspace_id)s AND name.id = rows.name_id
    RETURNING document_id, entity_id, surface, surface_key, entity_type, states_type
)
SELECT
    document_id, entity_id, surface, entity_type, min(surface_key) AS surface_key, count(*)::integer AS uses,
    count(*) FILTER (WHERE states_type)::integer AS stated
FROM added
GROUP BY document_id, entity_id, surface, entity_type;

-- name: insert_evidence
-- Both ends are names that the document mentions. Co-occurrence has no direction, so the smaller id comes first.
WITH added AS (
    INSERT INTO relation_evidence (
        workspace_id, document_id, number, source_name_id, target_name_id, relation_type, weight, confidence, chunk_id,
        span_start, span_end, method, phrase, status, dated, source_id, target_id
    )
    SELECT
        %(workspace_id)s,
        rows.*,
        CASE rows.relation_type WHEN 'CO_OCCURS' THEN least(source.entity_id, target.entity_id) ELSE source.entity_id END,
        CASE rows.relation_type WHEN 'CO_OCCURS' THEN greatest(source.entity_id, target.entity_id) ELSE target.entity_id END
    FROM unnest(
        %(document_ids)s::uuid[], %(numbers)s::integer[], %(source_ids)s::text[], %(target_ids)s::text[], %(types)s::text[], %(weights)s::real[],
        %(confidences)s::real[], %(chunk_ids)s::text[], %(starts)s::integer[], %(ends)s::integer[], %(methods)s::text[],
        %(phrases)s::text[], %(statuses)s::text[], %(dates)s::text[]
    ) AS rows (
        document_id, number, source_name_id, target_name_id, relation_type, weight, confidence, chunk_id, span_start, span_end,
        method, phrase, status, dated
    )
    INNER JOIN name AS source ON source.workspace_id = %(workspace_id)s AND source.id = rows.source_name_id
    INNER JOIN name AS target ON target.workspace_id = %(workspace_id)s AND target.id = rows.target_name_id
    RETURNING source_id, target_id, relation_type, weight, status = 'current' AS counts
)
SELECT
    source_id, target_id, relation_type, sum(weight)::double precision AS weight, count(*)::integer AS evidence, counts
FROM added
GROUP BY source_id, target_id, relation_type, counts;

-- name: insert_alias_evidence
INSERT INTO alias_evidence (
    workspace_id, document_id, number, alias_id, alias_key, alias, target_id, target_key, target, method, chunk_id,
    span_start, span_end
)
SELECT %(workspace_id)s, rows.*
FROM unnest(
    %(document_ids)s::uuid[], %(numbers)s::integer[], %(alias_ids)s::text[], %(alias_keys)s::text[], %(aliases)s::text[], %(target_ids)s::text[], %(target_keys)s::text[],
    %(targets)s::text[], %(methods)s::text[], %(chunk_ids)s::text[], %(starts)s::integer[], %(ends)s::integer[]
) AS rows;

-- name: insert_candidates
INSERT INTO candidates (
    workspace_id, document_id, first_number, chunk_id, hashes, surfaces, starts, ends, sentence_starts, sentence_ends
)
VALUES (
    %(workspace_id)s, %(document_id)s, %(first_number)s, %(chunk_id)s, %(hashes)s, %(surfaces)s, %(starts)s, %(ends)s,
    %(sentence_starts)s, %(sentence_ends)s
);
