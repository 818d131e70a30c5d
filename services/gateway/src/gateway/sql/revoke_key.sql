UPDATE api_key SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE workspace_id = %(workspace_id)s AND id = %(id)s
