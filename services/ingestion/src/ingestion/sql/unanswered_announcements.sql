-- Converted, told, and not confirmed for a while.
SELECT DISTINCT workspace_id, document_id, name
FROM document_stage
WHERE status = 'queued' AND name = %(name)s
  AND dispatched_at < now() - make_interval(secs => %(resend_after)s)
LIMIT 100
