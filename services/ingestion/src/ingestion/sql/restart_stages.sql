-- For a new version: whoever holds a stage of the one before has lost it.
UPDATE document_stage
SET status = CASE name WHEN 'store' THEN 'succeeded' WHEN 'convert' THEN 'queued' ELSE 'waiting' END,
    lane = %(lane)s, attempts = CASE name WHEN 'store' THEN 1 ELSE 0 END, losses = 0, postponements = 0,
    queued_at = CASE name WHEN 'convert' THEN now() END, not_before = NULL, dispatched_at = NULL, lease = NULL,
    worker = NULL, started_at = CASE name WHEN 'store' THEN %(received_at)s::timestamptz END, heartbeat_at = NULL,
    finished_at = CASE name WHEN 'store' THEN now() END, page = NULL, pages = NULL, error_class = NULL,
    error_message = NULL, traceparent = %(traceparent)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
