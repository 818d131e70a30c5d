-- `queued`: the projection has yet to take the document's present state up. Triples that users brought are no document.
SELECT
    document.document_id,
    document.version,
    (
        SELECT count(*) FROM mention
        WHERE mention.workspace_id = document.workspace_id AND mention.document_id = document.document_id
    ) AS mentions,
    EXISTS (
        SELECT FROM projection_queue AS queue
        WHERE
            queue.workspace_id = document.workspace_id
            AND (
                queue.kind = 'workspace'
                OR (queue.kind IN ('document', 'mentions') AND queue.id = document.document_id::text)
            )
    ) AS queued
FROM graphed_document AS document
WHERE
    document.workspace_id = %(workspace_id)s
    AND document.method <> 'user'
    AND (%(after)s::uuid IS NULL OR document.document_id > %(after)s::uuid)
ORDER BY document.document_id
LIMIT %(limit)s
