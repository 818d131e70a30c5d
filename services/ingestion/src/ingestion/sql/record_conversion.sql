UPDATE document
SET title = %(title)s, pages = %(pages)s, chunk_count = %(chunk_count)s, engine = %(engine)s, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
