-- name: of_documents
SELECT {columns}
FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: count_ahead
-- Counts documents that workers take before this one: interactive work first, then by due time.
SELECT count(DISTINCT other.document_id)
FROM document_stage AS mine
JOIN document_stage AS other
  ON other.workspace_id = mine.workspace_id AND other.document_id <> mine.document_id
 AND (
     other.status = 'running' AND other.name IN ('convert', 'chunk', 'embed')
     OR other.status = 'queued' AND other.name IN ('convert', 'embed') AND other.due_at <= now()
        AND (other.lane = mine.lane AND other.due_at < mine.due_at OR other.lane = 'interactive' AND mine.lane = 'bulk')
 )
WHERE mine.workspace_id = %(workspace_id)s AND mine.document_id = %(document_id)s
  AND mine.status = 'queued' AND mine.name IN ('convert', 'embed');

-- name: count_queued_bytes
SELECT coalesce(sum(document.file_size), 0)::bigint
FROM document_stage AS stage
JOIN document ON document.workspace_id = stage.workspace_id AND document.id = stage.document_id
WHERE stage.workspace_id = %(workspace_id)s AND stage.status IN ('queued', 'running') AND stage.name = 'convert'
  AND stage.lane = %(lane)s;

-- name: insert
-- Inserts a document's stages. Its original is stored before this commits, so conversion may begin.
INSERT INTO document_stage (workspace_id, document_id, name, lane, status, attempts, queued_at, started_at, finished_at,
                            traceparent)
SELECT %(workspace_id)s, %(document_id)s, name, %(lane)s,
       CASE name WHEN 'store' THEN 'succeeded' WHEN 'convert' THEN 'queued' ELSE 'waiting' END,
       CASE name WHEN 'store' THEN 1 ELSE 0 END,
       CASE name WHEN 'convert' THEN now() END,
       CASE name WHEN 'store' THEN %(received_at)s::timestamptz END,
       CASE name WHEN 'store' THEN now() END,
       %(traceparent)s
FROM unnest(ARRAY['store', 'convert', 'chunk', 'embed', 'index', 'graph']) AS stage (name);

-- name: restart
-- Restarts the stages for a new version; workers on the previous one lose their leases.
UPDATE document_stage
SET status = CASE name WHEN 'store' THEN 'succeeded' WHEN 'convert' THEN 'queued' ELSE 'waiting' END,
    lane = %(lane)s, attempts = CASE name WHEN 'store' THEN 1 ELSE 0 END, losses = 0, postponements = 0,
    queued_at = CASE name WHEN 'convert' THEN now() END, not_before = NULL, dispatched_at = NULL, lease = NULL,
    worker = NULL, started_at = CASE name WHEN 'store' THEN %(received_at)s::timestamptz END, heartbeat_at = NULL,
    finished_at = CASE name WHEN 'store' THEN now() END, page = NULL, pages = NULL, error_class = NULL,
    error_message = NULL, traceparent = %(traceparent)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s;

-- name: requeue
-- Queues stages with their counters at zero. Chunks are made again with the conversion, and vectors after it.
-- Without a lane each keeps its own.
WITH wanted AS (
    SELECT * FROM unnest(%(document_ids)s::uuid[], %(names)s::text[]) AS wanted (document_id, name)
),
reset AS (
    UPDATE document_stage AS stage
    SET status = 'waiting', lane = coalesce(%(lane)s, stage.lane), queued_at = NULL, lease = NULL, worker = NULL, started_at = NULL,
        heartbeat_at = NULL, finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
    FROM wanted
    WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = wanted.document_id
      AND stage.name IN ('chunk', 'embed') AND wanted.name = 'convert'
)
UPDATE document_stage AS stage
SET status = 'queued', lane = coalesce(%(lane)s, stage.lane), losses = 0, postponements = 0, queued_at = now(), not_before = NULL,
    dispatched_at = CASE WHEN stage.name IN ('index', 'graph') THEN now() END,
    lease = NULL, worker = NULL, started_at = NULL, heartbeat_at = NULL, finished_at = NULL, page = NULL, pages = NULL,
    error_class = NULL, error_message = NULL, traceparent = %(traceparent)s
FROM wanted
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = wanted.document_id AND stage.name = wanted.name;

-- name: reset
UPDATE document_stage
SET status = 'waiting', queued_at = NULL, lease = NULL, worker = NULL, started_at = NULL, heartbeat_at = NULL,
    finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = ANY(%(names)s);

-- name: cancel
UPDATE document_stage
SET status = 'cancelled', lease = NULL, dispatched_at = NULL, not_before = NULL, finished_at = now(), page = NULL,
    pages = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
  AND name IN ('convert', 'chunk', 'embed') AND status IN ('queued', 'running')
RETURNING document_id;

-- name: hasten
-- Moves a source's document to the interactive lane, as a user asks for it.
UPDATE document_stage SET lane = 'interactive'
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lane = 'bulk';

-- name: queue_confirmations
-- Queues the confirmations of a published document. Published again with vectors, only the index confirms again.
UPDATE document_stage
SET status = 'queued', queued_at = now(), dispatched_at = now(), finished_at = NULL, error_class = NULL,
    error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
  AND (name = 'index' OR name = 'graph' AND status = 'waiting');

-- name: confirm
UPDATE document_stage
SET status = 'succeeded', attempts = greatest(attempts, 1), started_at = coalesce(started_at, queued_at),
    finished_at = now(), worker = %(worker)s, error_class = NULL, error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND status IN ('queued', 'failed');

-- name: reject
UPDATE document_stage
SET status = 'failed', attempts = attempts + 1, started_at = coalesce(started_at, queued_at), finished_at = now(),
    worker = %(worker)s, error_class = %(error_class)s, error_message = %(error_message)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND status = 'queued';

-- name: is_announced
SELECT FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = 'index' AND status <> 'waiting';

-- name: choose
-- Chooses documents in the given lanes: interactive work first, then the workspaces that have the least in work, in
-- turn.
-- The recursion steps from one (lane, workspace) to the next in the index, however many rows lie between.
WITH RECURSIVE queue (lane, workspace_id) AS (
    (
        SELECT lane, workspace_id FROM document_stage
        WHERE status = 'queued' AND name IN ('convert', 'embed')
        ORDER BY lane, workspace_id LIMIT 1
    )
    UNION ALL
    SELECT following.lane, following.workspace_id
    FROM queue CROSS JOIN LATERAL (
        SELECT stage.lane, stage.workspace_id FROM document_stage AS stage
        WHERE stage.status = 'queued' AND stage.name IN ('convert', 'embed')
          AND (stage.lane, stage.workspace_id) > (queue.lane, queue.workspace_id)
        ORDER BY stage.lane, stage.workspace_id LIMIT 1
    ) AS following
),
in_work AS (
    SELECT workspace_id, count(*) AS documents FROM document_stage
    WHERE status = 'running' AND name IN ('convert', 'embed')
    GROUP BY workspace_id
)
SELECT due.workspace_id, due.document_id
FROM queue
LEFT JOIN in_work USING (workspace_id)
CROSS JOIN LATERAL (
    SELECT stage.workspace_id, stage.document_id, stage.due_at, row_number() OVER (ORDER BY stage.due_at) AS place
    FROM document_stage AS stage
    WHERE stage.status = 'queued' AND stage.name IN ('convert', 'embed')
      AND stage.lane = queue.lane AND stage.workspace_id = queue.workspace_id AND stage.due_at <= now()
    ORDER BY stage.due_at
    LIMIT %(limit)s
) AS due
WHERE queue.lane = ANY(%(lanes)s)
ORDER BY queue.lane = 'interactive' DESC, coalesce(in_work.documents, 0) + due.place, due.due_at
LIMIT %(limit)s;

-- name: lease
-- Leases the queued stage of a locked document, so that the stage and the version belong together.
UPDATE document_stage AS stage
SET status = 'running', attempts = stage.attempts + 1, lease = %(lease)s, worker = %(worker)s, started_at = now(),
    heartbeat_at = now(), finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
FROM document
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = %(document_id)s
  AND stage.name IN ('convert', 'embed') AND stage.status = 'queued' AND stage.due_at <= now()
  AND document.workspace_id = stage.workspace_id AND document.id = stage.document_id AND document.status <> 'deleting'
RETURNING stage.workspace_id, stage.document_id, stage.name AS stage, stage.lane, stage.lease, stage.postponements,
          stage.losses, stage.traceparent, document.name, document.title, document.media_type, document.file_size,
          document.content_hash, document.version;

-- name: holds_lease
SELECT FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lease = %(lease)s AND status = 'running'
FOR UPDATE;

-- name: start
-- Starts the next stage under the same lease.
UPDATE document_stage
SET status = 'running', attempts = attempts + 1, lease = %(lease)s, worker = %(worker)s,
    queued_at = coalesce(queued_at, now()), started_at = now(), heartbeat_at = now(), finished_at = NULL,
    page = NULL, pages = NULL, error_class = NULL, error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s
  AND status IN ('waiting', 'queued', 'running');

-- name: beat
UPDATE document_stage AS stage
SET heartbeat_at = now(), page = %(page)s, pages = %(pages)s
FROM document
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = %(document_id)s AND stage.lease = %(lease)s
  AND stage.status = 'running'
  AND document.workspace_id = stage.workspace_id AND document.id = stage.document_id AND document.status <> 'deleting';

-- name: finish
UPDATE document_stage
SET status = 'succeeded', started_at = coalesce(started_at, now()), finished_at = now(), lease = NULL,
    attempts = greatest(attempts, 1), worker = %(worker)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = ANY(%(names)s);

-- name: fail
UPDATE document_stage
SET status = CASE WHEN name = %(failed)s THEN 'failed' WHEN name = 'convert' THEN 'succeeded' ELSE 'waiting' END,
    finished_at = now(), lease = NULL,
    error_class = CASE WHEN name = %(failed)s THEN %(error_class)s END,
    error_message = CASE WHEN name = %(failed)s THEN %(error_message)s END
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lease = %(lease)s AND status = 'running';

-- name: release
-- Queues the stage again, at its old place or after a delay; `uncount` takes the attempt back.
UPDATE document_stage
SET status = CASE WHEN name = 'chunk' THEN 'waiting' ELSE 'queued' END,
    lease = NULL, page = NULL, pages = NULL, attempts = attempts - %(uncount)s,
    postponements = postponements + %(postponed)s, losses = losses + %(lost)s,
    not_before = CASE WHEN %(delay)s > 0 THEN now() + make_interval(secs => %(delay)s) END,
    error_class = CASE WHEN name <> 'chunk' THEN %(error_class)s END,
    error_message = CASE WHEN name <> 'chunk' THEN %(error_message)s END
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lease = %(lease)s AND status = 'running';

-- name: abandon
-- Releases the stage of a document that is being deleted, whose objects wait for that.
UPDATE document_stage SET status = 'waiting', lease = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lease = %(lease)s AND status = 'running';

-- name: recover
-- Queues the stages whose worker is lost, or fails them; returns the name of a failed one. What was done of chunking
-- was
-- in the lost worker's memory: it begins again with the conversion.
WITH recovered AS (
    UPDATE document_stage
    SET status = CASE WHEN name = 'chunk' THEN 'waiting' WHEN losses + 1 >= %(losses)s THEN 'failed' ELSE 'queued' END,
        losses = losses + 1, lease = NULL, dispatched_at = NULL, page = NULL, pages = NULL,
        finished_at = CASE WHEN name <> 'chunk' AND losses + 1 >= %(losses)s THEN now() END,
        error_class = CASE WHEN name <> 'chunk' THEN 'worker-lost' END,
        error_message = CASE WHEN name <> 'chunk' THEN %(message)s END
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
      AND status = 'running' AND heartbeat_at < now() - make_interval(secs => %(lease)s)
    RETURNING name, status
)
SELECT name FROM recovered WHERE status = 'failed';

-- name: expired_leases
SELECT DISTINCT workspace_id, document_id
FROM document_stage
WHERE status = 'running' AND heartbeat_at < now() - make_interval(secs => %(lease)s);

-- name: announced_again
UPDATE document_stage
SET dispatched_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND status = 'queued'
  AND now() - dispatched_at > greatest(make_interval(secs => %(resend_after)s), dispatched_at - queued_at);

-- name: unanswered
-- Returns documents that were published and not confirmed for a while; the interval grows with each publication.
SELECT workspace_id, document_id
FROM document_stage
WHERE status = 'queued' AND name IN ('index', 'graph') AND name = %(name)s
  AND dispatched_at < now() - make_interval(secs => %(resend_after)s)
  AND now() - dispatched_at > dispatched_at - queued_at
ORDER BY dispatched_at
LIMIT 100;
