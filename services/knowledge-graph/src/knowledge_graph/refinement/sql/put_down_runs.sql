-- At once, and with the lease: answers that are still to come are not kept.
UPDATE refinement_run SET state = 'paused', lease_token = NULL, lease_expires_at = NULL
WHERE workspace_id = %(workspace_id)s AND state IN ('queued', 'running', 'waiting')
