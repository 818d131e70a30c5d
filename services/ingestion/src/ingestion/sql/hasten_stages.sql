-- A user asks for what a source brought.
UPDATE document_stage SET lane = 'interactive'
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lane = 'bulk'
