UPDATE deletion
SET announced_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND completed_at IS NULL
  AND now() - announced_at > greatest(make_interval(secs => %(resend_after)s), announced_at - requested_at)
