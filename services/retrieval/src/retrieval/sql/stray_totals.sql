-- Chunks of these documents, and their terms, as far as the documents have no row.
SELECT coalesce(array_agg(DISTINCT document), '{}'), count(*), coalesce(sum(terms), 0)::bigint
FROM chunk
WHERE workspace_id = %(workspace_id)s AND document = ANY (%(documents)s::bigint[])
  AND NOT EXISTS (SELECT FROM indexed_document
                  WHERE indexed_document.workspace_id = %(workspace_id)s AND indexed_document.number = chunk.document)
