-- Both ends are names that the document mentions. Co-occurrence has no direction: the smaller id comes first.
WITH added AS (
    INSERT INTO relation_evidence (
        workspace_id, document_id, number, source_name_id, target_name_id, relation_type, weight, confidence, chunk_id,
        span_start, span_end, method, phrase, source_id, target_id
    )
    SELECT
        %(workspace_id)s,
        %(document_id)s,
        rows.*,
        CASE rows.relation_type WHEN 'CO_OCCURS' THEN least(source.entity_id, target.entity_id) ELSE source.entity_id END,
        CASE rows.relation_type WHEN 'CO_OCCURS' THEN greatest(source.entity_id, target.entity_id) ELSE target.entity_id END
    FROM unnest(
        %(numbers)s::integer[], %(source_ids)s::text[], %(target_ids)s::text[], %(types)s::text[], %(weights)s::real[],
        %(confidences)s::real[], %(chunk_ids)s::text[], %(starts)s::integer[], %(ends)s::integer[], %(methods)s::text[],
        %(phrases)s::text[]
    ) AS rows (
        number, source_name_id, target_name_id, relation_type, weight, confidence, chunk_id, span_start, span_end,
        method, phrase
    )
    INNER JOIN name AS source ON source.workspace_id = %(workspace_id)s AND source.id = rows.source_name_id
    INNER JOIN name AS target ON target.workspace_id = %(workspace_id)s AND target.id = rows.target_name_id
    RETURNING source_id, target_id, relation_type, weight
)
SELECT source_id, target_id, relation_type, sum(weight)::double precision AS weight, count(*)::integer AS evidence
FROM added
GROUP BY source_id, target_id, relation_type
