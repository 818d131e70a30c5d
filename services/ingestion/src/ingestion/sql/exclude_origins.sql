-- Deleted by a user: what a source still has stays away from now on.
UPDATE origin SET excluded = true, document_id = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND source_id IS NOT NULL
