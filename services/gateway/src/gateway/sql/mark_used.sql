UPDATE api_key SET last_used_at = %(at)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (last_used_at IS NULL OR last_used_at < %(at)s)
