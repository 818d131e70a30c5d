INSERT INTO relation_evidence (
    workspace_id, document_id, number, source_id, target_id, relation_type, weight, confidence, chunk_id, span_start,
    span_end
)
SELECT %(workspace_id)s, %(document_id)s, row_number() OVER (), rows.*
FROM unnest(
    %(source_ids)s::text[], %(target_ids)s::text[], %(types)s::text[], %(weights)s::real[], %(confidences)s::real[],
    %(chunk_ids)s::text[], %(starts)s::integer[], %(ends)s::integer[]
) AS rows
