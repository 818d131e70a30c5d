SELECT workspace_id, document_id
FROM deletion
WHERE completed_at IS NULL AND erased_at IS NOT NULL
  AND announced_at < now() - make_interval(secs => %(resend_after)s)
LIMIT 100
