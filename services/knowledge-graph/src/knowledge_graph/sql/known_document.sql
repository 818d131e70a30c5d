SELECT version, name, title, language, chunks_key, chunks_digest, entities, relations
FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
