-- name: document_names
-- Returns the names of documents.
SELECT number, chunk_count, name, title FROM indexed_document
WHERE workspace_id = %(workspace_id)s AND number = ANY (%(documents)s::bigint[]);

-- name: first_chunks
-- Returns the first chunks of each document, in order.
SELECT first.number
FROM unnest(%(documents)s::bigint[]) AS wanted (document)
CROSS JOIN LATERAL (
    SELECT number, chunk_index FROM chunk
    WHERE workspace_id = %(workspace_id)s AND chunk.document = wanted.document
    ORDER BY chunk_index LIMIT %(limit)s
) AS first
ORDER BY first.chunk_index, first.number;
