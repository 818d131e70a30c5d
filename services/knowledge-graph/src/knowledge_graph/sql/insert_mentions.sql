-- Arrays, as COPY cannot write to tables under row-level security.
WITH added AS (
    INSERT INTO mention (
        workspace_id, document_id, number, name_id, name_key, chunk_id, surface, surface_key, entity_type, span_start,
        span_end, about, sentence_start, sentence_end, origin, entity_id
    )
    SELECT %(workspace_id)s, %(document_id)s, rows.*, name.entity_id
    FROM unnest(
        %(numbers)s::integer[], %(name_ids)s::text[], %(name_keys)s::text[], %(chunk_ids)s::text[],
        %(surfaces)s::text[], %(surface_keys)s::text[], %(types)s::text[], %(starts)s::integer[], %(ends)s::integer[],
        %(abouts)s::text[], %(sentence_starts)s::integer[], %(sentence_ends)s::integer[], %(origins)s::text[]
    ) AS rows (
        number, name_id, name_key, chunk_id, surface, surface_key, entity_type, span_start, span_end, about,
        sentence_start, sentence_end, origin
    )
    INNER JOIN name ON name.workspace_id = %(workspace_id)s AND name.id = rows.name_id
    RETURNING entity_id, surface, surface_key, entity_type
)
SELECT entity_id, surface, entity_type, min(surface_key) AS surface_key, count(*)::integer AS uses
FROM added
GROUP BY entity_id, surface, entity_type
