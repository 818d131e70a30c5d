SELECT document_id, version, chunk_count,
       (SELECT count(*) FROM chunk_vector
        WHERE workspace_id = %(workspace_id)s AND chunk >= indexed.number << 20 AND chunk < (indexed.number + 1) << 20
          AND model = %(model)s AND dims = %(dims)s) AS vectors
FROM indexed_document AS indexed
WHERE workspace_id = %(workspace_id)s AND document_id > %(after)s
ORDER BY document_id
LIMIT %(limit)s
