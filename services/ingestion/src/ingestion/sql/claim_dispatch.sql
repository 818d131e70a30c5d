-- One at a time per row: replicas of the dispatcher pass over what another one is sending.
WITH due AS (
    SELECT workspace_id, document_id, name
    FROM document_stage
    WHERE status = 'queued' AND name IN ('convert', 'embed') AND dispatched_at IS NULL
      AND (not_before IS NULL OR not_before <= now())
    ORDER BY queued_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE document_stage AS stage
SET dispatched_at = now()
FROM due
WHERE stage.workspace_id = due.workspace_id AND stage.document_id = due.document_id AND stage.name = due.name
RETURNING stage.workspace_id, stage.document_id, stage.traceparent, stage.queued_at
