SELECT number, chunk_index, heading_path, content, chunk.postings
FROM unnest(%(documents)s::bigint[]) AS wanted (document)
JOIN chunk ON number >= wanted.document << 20 AND number < (wanted.document + 1) << 20
WHERE workspace_id = %(workspace_id)s AND (%(chunks)s::bigint[] IS NULL OR number = ANY (%(chunks)s))
