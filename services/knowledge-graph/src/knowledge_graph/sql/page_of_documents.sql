SELECT document_id::text AS id, method = 'user' AS is_import
FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND (%(after)s::uuid IS NULL OR document_id > %(after)s::uuid)
ORDER BY document_id
LIMIT %(limit)s
