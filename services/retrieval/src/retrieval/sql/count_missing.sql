-- Chunks without a vector of the space.
SELECT count(*) FROM chunk
WHERE workspace_id = %(workspace_id)s
  AND NOT EXISTS (SELECT FROM chunk_vector AS vector
                  WHERE vector.workspace_id = %(workspace_id)s AND vector.model = %(model)s
                    AND vector.dims = %(dims)s AND vector.chunk = chunk.number)
