INSERT INTO alias_evidence (
    workspace_id, document_id, number, alias_id, alias_key, alias, target_id, target_key, target, method, chunk_id,
    span_start, span_end
)
SELECT %(workspace_id)s, %(document_id)s, row_number() OVER (), rows.*
FROM unnest(
    %(alias_ids)s::text[], %(alias_keys)s::text[], %(aliases)s::text[], %(target_ids)s::text[], %(target_keys)s::text[],
    %(targets)s::text[], %(methods)s::text[], %(chunk_ids)s::text[], %(starts)s::integer[], %(ends)s::integer[]
) AS rows
