UPDATE document_stage
SET dispatched_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND status = 'queued'
  AND now() - dispatched_at > greatest(make_interval(secs => %(resend_after)s), dispatched_at - queued_at)
