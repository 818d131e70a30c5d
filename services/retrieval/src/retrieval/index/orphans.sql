-- name: indexed_workspaces
-- Returns the workspaces that have an active space.
SELECT workspace_id FROM embedding_space WHERE status = 'active' ORDER BY workspace_id;

-- name: orphan_documents
-- Checks the next documents that have chunks: returns the last one (0 after the end), and those without a row.
WITH RECURSIVE looked AS (
    SELECT (SELECT min(document) FROM chunk
            WHERE workspace_id = %(workspace_id)s AND document > %(after)s) AS document, 1 AS place
    UNION ALL
    SELECT (SELECT min(document) FROM chunk
            WHERE workspace_id = %(workspace_id)s AND document > looked.document), place + 1
    FROM looked
    WHERE document IS NOT NULL AND place < %(most)s
)
SELECT CASE WHEN count(document) < %(most)s THEN 0 ELSE max(document) END,
       coalesce(array_agg(document ORDER BY document)
                FILTER (WHERE document IS NOT NULL AND NOT EXISTS (
                    SELECT FROM indexed_document
                    WHERE indexed_document.workspace_id = %(workspace_id)s AND indexed_document.number = document)), '{}')
FROM looked;

-- name: orphan_totals
-- Counts the chunks and terms of documents without a row.
SELECT coalesce(array_agg(DISTINCT document), '{}'), count(*), coalesce(sum(terms), 0)::bigint
FROM chunk
WHERE workspace_id = %(workspace_id)s AND document = ANY (%(documents)s::bigint[])
  AND NOT EXISTS (SELECT FROM indexed_document
                  WHERE indexed_document.workspace_id = %(workspace_id)s AND indexed_document.number = chunk.document);

-- name: recount_stemmings
-- Recounts documents by stemming. Exact after the change of the statistics, whose row lock serialises writers.
UPDATE workspace_stemming AS known SET documents = (
    SELECT count(*) FROM indexed_document AS indexed
    WHERE indexed.workspace_id = %(workspace_id)s AND indexed.stemming = known.stemming)
WHERE workspace_id = %(workspace_id)s;
