-- Not while a worker may still write: it notices the deletion at its next heartbeat, or its lease ends.
SELECT deletion.workspace_id, deletion.document_id
FROM deletion
WHERE erased_at IS NULL AND NOT EXISTS (
    SELECT FROM document_stage AS stage
    WHERE stage.workspace_id = deletion.workspace_id AND stage.document_id = deletion.document_id
      AND stage.status = 'running' AND stage.heartbeat_at > now() - make_interval(secs => %(lease)s)
)
ORDER BY requested_at
LIMIT 100
