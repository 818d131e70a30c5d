SELECT count(*)
FROM document_stage
WHERE status = 'queued' AND name IN ('convert', 'embed')
  AND dispatched_at < now() - make_interval(secs => %(resend_after)s)
