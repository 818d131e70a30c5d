UPDATE source SET deleted_at = coalesce(deleted_at, now()), next_sync_at = NULL, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s
