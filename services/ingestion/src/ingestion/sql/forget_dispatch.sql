UPDATE document_stage
SET dispatched_at = NULL
WHERE status = 'queued' AND name IN ('convert', 'embed')
  AND dispatched_at < now() - make_interval(secs => %(resend_after)s)
