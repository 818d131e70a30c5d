SELECT document.document_id, document.name, document.chunks_key
FROM graphed_document AS document
WHERE
    document.workspace_id = %(workspace_id)s
    AND document.chunks_key <> ''
    AND NOT EXISTS (
        SELECT FROM refinement_document AS read
        WHERE read.workspace_id = document.workspace_id AND read.document_id = document.document_id
    )
ORDER BY document.document_id
LIMIT %(limit)s
