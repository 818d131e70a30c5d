SELECT workspace_id, document_id
FROM deletion
WHERE completed_at IS NULL AND erased_at IS NOT NULL
  AND now() - announced_at > greatest(make_interval(secs => %(resend_after)s), announced_at - requested_at)
LIMIT 100
