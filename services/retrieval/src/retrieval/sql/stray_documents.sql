-- Of the next documents after a number that have chunks: up to which was looked, how many they are, and those without a row.
WITH RECURSIVE looked AS (
    SELECT (SELECT min(document) FROM chunk
            WHERE workspace_id = %(workspace_id)s AND document > %(after)s) AS document, 1 AS place
    UNION ALL
    SELECT (SELECT min(document) FROM chunk
            WHERE workspace_id = %(workspace_id)s AND document > looked.document), place + 1
    FROM looked
    WHERE document IS NOT NULL AND place < %(most)s
)
SELECT coalesce(max(document), 0), count(document),
       coalesce(array_agg(document ORDER BY document)
                FILTER (WHERE document IS NOT NULL AND NOT EXISTS (
                    SELECT FROM indexed_document
                    WHERE indexed_document.workspace_id = %(workspace_id)s AND indexed_document.number = document)), '{}')
FROM looked
