SELECT workspace_id, requested_by, requested_at, completed_at FROM workspace_deletion
WHERE workspace_id = %(workspace_id)s
