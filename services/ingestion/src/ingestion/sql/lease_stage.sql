-- The document is locked, so that the stage and its version belong together.
UPDATE document_stage AS stage
SET status = 'running', attempts = stage.attempts + 1, lease = %(lease)s, worker = %(worker)s, started_at = now(),
    heartbeat_at = now(), finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
FROM document
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = %(document_id)s
  AND stage.name IN ('convert', 'embed') AND stage.status = 'queued' AND stage.due_at <= now()
  AND document.workspace_id = stage.workspace_id AND document.id = stage.document_id AND document.status <> 'deleting'
RETURNING stage.workspace_id, stage.document_id, stage.name AS stage, stage.lane, stage.lease, stage.postponements,
          stage.losses, stage.traceparent, document.name, document.title, document.media_type, document.file_size,
          document.content_hash, document.version
