UPDATE api_key SET revoked_at = clock_timestamp()
WHERE workspace_id = %(workspace_id)s AND user_id = %(user_id)s AND revoked_at IS NULL
