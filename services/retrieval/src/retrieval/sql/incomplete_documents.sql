SELECT document_id, version, chunk_count
FROM indexed_document AS indexed
LEFT JOIN (SELECT document, count(*) AS vectors FROM chunk_vector
           WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
           GROUP BY document) AS counted ON counted.document = indexed.number
WHERE workspace_id = %(workspace_id)s AND chunk_count <> coalesce(vectors, 0)
