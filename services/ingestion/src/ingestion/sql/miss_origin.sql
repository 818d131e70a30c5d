UPDATE origin SET missing_since = coalesce(missing_since, now())
WHERE workspace_id = %(workspace_id)s AND id = %(origin_id)s
