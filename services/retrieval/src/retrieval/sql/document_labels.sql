SELECT name, document_id::text, metadata #>> '{source,path}', metadata #>> '{source,uri}'
FROM indexed_document
WHERE workspace_id = %(workspace_id)s
