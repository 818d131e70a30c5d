-- The original is stored before this commits, so the first stage has succeeded and conversion may begin.
INSERT INTO document_stage (workspace_id, document_id, name, lane, status, attempts, queued_at, started_at, finished_at,
                            traceparent)
SELECT %(workspace_id)s, %(document_id)s, name, %(lane)s,
       CASE name WHEN 'store' THEN 'succeeded' WHEN 'convert' THEN 'queued' ELSE 'waiting' END,
       CASE name WHEN 'store' THEN 1 ELSE 0 END,
       CASE name WHEN 'convert' THEN now() END,
       CASE name WHEN 'store' THEN %(received_at)s::timestamptz END,
       CASE name WHEN 'store' THEN now() END,
       %(traceparent)s
FROM unnest(ARRAY['store', 'convert', 'chunk', 'embed', 'index', 'graph']) AS stage (name)
