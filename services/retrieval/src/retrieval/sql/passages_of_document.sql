SELECT number, chunk_index, heading_path, content, postings FROM chunk
WHERE workspace_id = %(workspace_id)s AND number >= %(document)s::bigint << 20
  AND number < (%(document)s::bigint + 1) << 20
  AND (%(chunks)s::bigint[] IS NULL OR number = ANY (%(chunks)s))
