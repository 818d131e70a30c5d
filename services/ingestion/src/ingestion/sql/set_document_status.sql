UPDATE document
SET status = %(status)s, updated_at = now(),
    indexed_at = CASE WHEN %(status)s = 'searchable' THEN now() ELSE indexed_at END
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
