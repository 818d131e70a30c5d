UPDATE source SET deleted_at = now(), next_sync_at = NULL
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND deleted_at IS NULL
