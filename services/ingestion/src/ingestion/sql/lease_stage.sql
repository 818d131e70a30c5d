UPDATE document_stage AS stage
SET status = 'running', attempts = stage.attempts + 1, lease = %(lease)s, worker = %(worker)s, started_at = now(),
    heartbeat_at = now(), finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
FROM document
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = %(document_id)s
  AND stage.name IN ('convert', 'embed') AND stage.status = 'queued'
  AND (stage.not_before IS NULL OR stage.not_before <= now())
  AND document.workspace_id = stage.workspace_id AND document.id = stage.document_id AND document.status <> 'deleting'
RETURNING stage.workspace_id, stage.document_id, stage.name AS stage, stage.lease, stage.postponements, stage.losses,
          document.name, document.title, document.media_type, document.content_hash, document.version
