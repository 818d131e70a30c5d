-- Chunks without a vector of the space, and where the workspace wants them documents without one of their own.
SELECT (SELECT count(*) FROM chunk
        WHERE workspace_id = %(workspace_id)s
          AND NOT EXISTS (SELECT FROM chunk_vector AS vector
                          WHERE vector.workspace_id = %(workspace_id)s AND vector.model = %(model)s
                            AND vector.dims = %(dims)s AND vector.chunk = chunk.number))
     + (SELECT count(*) FROM indexed_document AS indexed
        WHERE workspace_id = %(workspace_id)s AND chunk_count > 0 AND wants_document_vectors(%(workspace_id)s)
          AND NOT EXISTS (SELECT FROM document_vector AS vector
                          WHERE vector.workspace_id = %(workspace_id)s AND vector.document = indexed.number
                            AND vector.model = %(model)s AND vector.dims = %(dims)s))
