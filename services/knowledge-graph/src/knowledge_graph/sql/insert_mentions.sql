-- Arrays, as COPY cannot write to tables under row-level security.
INSERT INTO mention (
    workspace_id, document_id, number, entity_id, name_key, chunk_id, surface, entity_type, span_start, span_end, about
)
SELECT %(workspace_id)s, %(document_id)s, row_number() OVER (), rows.*
FROM unnest(
    %(entity_ids)s::text[], %(name_keys)s::text[], %(chunk_ids)s::text[], %(surfaces)s::text[], %(types)s::text[],
    %(starts)s::integer[], %(ends)s::integer[], %(abouts)s::boolean[]
) AS rows
