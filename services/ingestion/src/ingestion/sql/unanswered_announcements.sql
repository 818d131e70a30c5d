-- Converted, told, and not confirmed for a while; told again at growing intervals.
SELECT workspace_id, document_id
FROM document_stage
WHERE status = 'queued' AND name IN ('index', 'graph') AND name = %(name)s
  AND dispatched_at < now() - make_interval(secs => %(resend_after)s)
  AND now() - dispatched_at > dispatched_at - queued_at
ORDER BY dispatched_at
LIMIT 100
