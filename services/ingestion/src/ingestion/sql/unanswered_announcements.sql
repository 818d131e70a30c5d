-- Converted, told, and not confirmed for a while; told again at growing intervals.
SELECT workspace_id, document_id
FROM document_stage
WHERE status = 'queued' AND name = %(name)s
  AND now() - dispatched_at > greatest(make_interval(secs => %(resend_after)s), dispatched_at - queued_at)
LIMIT 100
