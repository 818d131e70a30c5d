SELECT chunk.number, document_id, heading_path, content
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number > %(after)s
  AND NOT EXISTS (SELECT FROM chunk_vector AS vector
                  WHERE vector.workspace_id = %(workspace_id)s AND vector.model = %(model)s AND vector.dims = %(dims)s
                    AND vector.chunk = chunk.number)
ORDER BY chunk.number
LIMIT %(limit)s
