INSERT INTO refinement_chunk (workspace_id, document_id, number, chunk_id, digest, tokens, applied)
SELECT %(workspace_id)s, %(document_id)s, rows.*
FROM unnest(
    %(numbers)s::integer[], %(chunk_ids)s::text[], %(digests)s::bytea[], %(tokens)s::integer[], %(applied)s::boolean[]
) AS rows
