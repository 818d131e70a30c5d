SELECT number, chunk_id, chunk_index, heading_path, terms, postings,
       EXISTS (SELECT FROM chunk_vector AS vector
               WHERE vector.workspace_id = chunk.workspace_id AND vector.model = %(model)s AND vector.dims = %(dims)s
                 AND vector.chunk = chunk.number) AS embedded
FROM chunk
WHERE workspace_id = %(workspace_id)s AND number >= %(document)s::bigint << 20
  AND number < (%(document)s::bigint + 1) << 20
ORDER BY chunk_index
