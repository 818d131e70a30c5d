UPDATE run
SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s), node_trace = %(node_trace)s,
    issues = %(issues)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_token = %(lease_token)s AND status = 'running'
RETURNING cancel_requested
