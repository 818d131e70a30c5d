-- With their counters at zero. Chunks are made again with the conversion, and vectors after it.
WITH wanted AS (
    SELECT * FROM unnest(%(document_ids)s::uuid[], %(names)s::text[]) AS wanted (document_id, name)
),
reset AS (
    UPDATE document_stage AS stage
    SET status = 'waiting', lane = %(lane)s, queued_at = NULL, lease = NULL, worker = NULL, started_at = NULL,
        heartbeat_at = NULL, finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
    FROM wanted
    WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = wanted.document_id
      AND stage.name IN ('chunk', 'embed') AND wanted.name = 'convert'
)
UPDATE document_stage AS stage
SET status = 'queued', lane = %(lane)s, losses = 0, postponements = 0, queued_at = now(), not_before = NULL,
    dispatched_at = CASE WHEN stage.name IN ('index', 'graph') THEN now() END,
    lease = NULL, worker = NULL, started_at = NULL, heartbeat_at = NULL, finished_at = NULL, page = NULL, pages = NULL,
    error_class = NULL, error_message = NULL, traceparent = %(traceparent)s
FROM wanted
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = wanted.document_id AND stage.name = wanted.name
