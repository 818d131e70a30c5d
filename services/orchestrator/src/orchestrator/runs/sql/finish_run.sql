-- The one way in which a claimed run ends: guarded by the lease, so that a superseded attempt changes nothing, and by
-- the wish to cancel, so that a completed run was not cancelled before.
UPDATE run
SET status = %(status)s, mode = %(mode)s, node_trace = %(node_trace)s, issues = %(issues)s,
    error_type = %(error_type)s, error_message = %(error_message)s, finished_at = now(),
    lease_owner = NULL, lease_token = NULL, lease_expires_at = NULL
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_token = %(lease_token)s AND status = 'running'
  AND (%(status)s <> 'completed' OR NOT cancel_requested)
RETURNING id
