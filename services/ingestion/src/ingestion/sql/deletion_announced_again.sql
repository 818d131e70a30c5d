UPDATE deletion
SET announced_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND completed_at IS NULL
  AND announced_at < now() - make_interval(secs => %(resend_after)s)
