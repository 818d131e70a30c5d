-- name: of_documents
SELECT {columns}
FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: count_ahead
-- Counts the documents that workers process before this one: interactive work first, then by due time.
SELECT count(DISTINCT other.document_id)
FROM document_stage AS mine
JOIN document_stage AS other
  ON other.workspace_id = mine.workspace_id AND other.document_id <> mine.document_id
 AND (
     other.state = 'running' AND other.name IN ('convert', 'chunk', 'embed')
     OR other.state = 'queued' AND other.name IN ('convert', 'embed') AND other.available_at <= now()
        AND (other.lane = mine.lane AND other.available_at < mine.available_at
             OR other.lane = 'interactive' AND mine.lane = 'bulk')
 )
WHERE mine.workspace_id = %(workspace_id)s AND mine.document_id = %(document_id)s
  AND mine.state = 'queued' AND mine.name IN ('convert', 'embed');

-- name: waiting
SELECT lane, count(*) AS documents, extract(epoch FROM now() - min(queued_at))::float8 AS oldest_seconds
FROM document_stage
WHERE workspace_id = %(workspace_id)s AND state = 'queued' AND name IN ('convert', 'embed')
GROUP BY lane;

-- name: count_queued_bytes
SELECT coalesce(sum(document.file_size), 0)::bigint
FROM document_stage AS stage
JOIN document ON document.workspace_id = stage.workspace_id AND document.id = stage.document_id
WHERE stage.workspace_id = %(workspace_id)s AND stage.state IN ('queued', 'running') AND stage.name = 'convert'
  AND stage.lane = %(lane)s;

-- name: count_ungraphed
-- Two counts, so that each finds its rows by a partial index: sent to the graph, and not converted yet.
SELECT (
    SELECT count(*) FROM document_stage
    WHERE workspace_id = %(workspace_id)s AND state IN ('queued', 'running') AND name = 'graph'
) + (
    SELECT count(*)
    FROM document
    JOIN document_stage AS stage ON stage.workspace_id = document.workspace_id AND stage.document_id = document.id
    WHERE document.workspace_id = %(workspace_id)s AND document.status = 'processing' AND stage.name = 'graph'
      AND stage.state = 'waiting'
);

-- name: insert
-- Inserts a document's stages. Its original is already stored, so conversion may begin.
INSERT INTO document_stage (workspace_id, document_id, name, lane, state, attempts, queued_at, started_at, finished_at,
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
SET state = CASE name WHEN 'store' THEN 'succeeded' WHEN 'convert' THEN 'queued' ELSE 'waiting' END,
    lane = %(lane)s, attempts = CASE name WHEN 'store' THEN 1 ELSE 0 END, losses = 0, postponements = 0,
    queued_at = CASE name WHEN 'convert' THEN now() END, available_at = now(), dispatched_at = NULL, lease_token = NULL,
    lease_expires_at = NULL, lease_owner = NULL, heartbeat_at = NULL,
    started_at = CASE name WHEN 'store' THEN %(received_at)s::timestamptz END,
    finished_at = CASE name WHEN 'store' THEN now() END, page = NULL, pages = NULL, error_class = NULL,
    error_message = NULL, traceparent = %(traceparent)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s;

-- name: requeue
-- Queues stages with their counters at zero. Requeuing the conversion also resets chunking and embedding.
-- Without a lane, each stage keeps its own.
WITH wanted AS (
    SELECT * FROM unnest(%(document_ids)s::uuid[], %(names)s::text[]) AS wanted (document_id, name)
),
reset AS (
    UPDATE document_stage AS stage
    SET state = 'waiting', lane = coalesce(%(lane)s, stage.lane), queued_at = NULL, lease_token = NULL,
        lease_expires_at = NULL, lease_owner = NULL, started_at = NULL, heartbeat_at = NULL, finished_at = NULL,
        page = NULL, pages = NULL, error_class = NULL, error_message = NULL
    FROM wanted
    WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = wanted.document_id
      AND stage.name IN ('chunk', 'embed') AND wanted.name = 'convert'
)
UPDATE document_stage AS stage
SET state = 'queued', lane = coalesce(%(lane)s, stage.lane), losses = 0, postponements = 0, queued_at = now(),
    available_at = now(), dispatched_at = CASE WHEN stage.name IN ('index', 'graph') THEN now() END,
    lease_token = NULL, lease_expires_at = NULL, lease_owner = NULL, started_at = NULL, heartbeat_at = NULL,
    finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL,
    traceparent = %(traceparent)s
FROM wanted
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = wanted.document_id AND stage.name = wanted.name;

-- name: reset
UPDATE document_stage
SET state = 'waiting', queued_at = NULL, lease_token = NULL, lease_expires_at = NULL, lease_owner = NULL,
    started_at = NULL, heartbeat_at = NULL, finished_at = NULL, page = NULL, pages = NULL, error_class = NULL,
    error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = ANY(%(names)s)
  AND (state <> 'waiting' OR queued_at IS NOT NULL OR started_at IS NOT NULL OR finished_at IS NOT NULL);

-- name: cancel
UPDATE document_stage
SET state = 'cancelled', lease_token = NULL, lease_expires_at = NULL, dispatched_at = NULL,
    finished_at = now(), page = NULL, pages = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
  AND name IN ('convert', 'chunk', 'embed') AND state IN ('queued', 'running')
RETURNING document_id;

-- name: hasten
-- Moves a source's document to the interactive lane, because a user is waiting for it.
UPDATE document_stage SET lane = 'interactive'
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lane = 'bulk';

-- name: queue_confirmations
-- Queues the confirmations of a published document. If it is republished with vectors, only the index confirms again.
UPDATE document_stage
SET state = 'queued', queued_at = now(), dispatched_at = now(), finished_at = NULL, error_class = NULL,
    error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
  AND (name = 'index' OR name = 'graph' AND state = 'waiting');

-- name: confirm
UPDATE document_stage
SET state = 'succeeded', attempts = greatest(attempts, 1), started_at = coalesce(started_at, queued_at),
    finished_at = now(), lease_owner = %(worker)s, error_class = NULL, error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s) AND name = %(name)s
  AND state IN ('queued', 'failed')
RETURNING document_id;

-- name: reject
UPDATE document_stage
SET state = 'failed', attempts = attempts + 1, started_at = coalesce(started_at, queued_at), finished_at = now(),
    lease_owner = %(worker)s, error_class = %(error_class)s, error_message = %(error_message)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND state = 'queued';

-- name: is_announced
SELECT FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = 'index' AND state <> 'waiting';

-- name: held
-- Returns what the holder needs to know about a locked document and its leased stage.
SELECT stage.workspace_id, stage.document_id, stage.name AS stage, stage.lane, stage.lease_token, stage.postponements,
       stage.losses, stage.traceparent, document.name, document.title, document.media_type, document.file_size,
       document.content_hash, document.version, chosen.model AS chosen_model, chosen.dims AS chosen_dims
FROM document_stage AS stage
JOIN document ON document.workspace_id = stage.workspace_id AND document.id = stage.document_id
LEFT JOIN workspace_embedding AS chosen ON chosen.workspace_id = stage.workspace_id
WHERE stage.workspace_id = %(workspace_id)s AND stage.lease_token = %(lease_token)s AND document.status <> 'deleting';

-- name: lock_lease
SELECT FROM document_stage
WHERE workspace_id = %(workspace_id)s AND lease_token = %(lease_token)s
FOR UPDATE;

-- name: lost
-- Returns documents that failed because workers were lost, if that is not published yet.
SELECT DISTINCT workspace_id, document_id FROM document_stage WHERE state = 'failed' AND finished_at IS NULL;

-- name: end_lost
UPDATE document_stage SET finished_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND state = 'failed' AND finished_at IS NULL
RETURNING name;

-- name: start
-- Starts a stage after conversion under the same lease, unless it holds it already.
UPDATE document_stage AS stage
SET state = 'running', attempts = stage.attempts + 1, lease_token = held.lease_token, lease_owner = held.lease_owner,
    lease_expires_at = held.lease_expires_at, queued_at = coalesce(stage.queued_at, now()), started_at = now(),
    heartbeat_at = now(), finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
FROM document_stage AS held
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = %(document_id)s AND stage.name = %(name)s
  AND stage.state IN ('waiting', 'queued', 'running') AND held.workspace_id = stage.workspace_id
  AND held.document_id = stage.document_id AND held.name = 'convert' AND held.lease_token = %(lease_token)s
  AND stage.lease_token IS DISTINCT FROM held.lease_token;

-- name: finish
UPDATE document_stage
SET state = 'succeeded', started_at = coalesce(started_at, now()), finished_at = now(), lease_token = NULL,
    lease_expires_at = NULL, attempts = greatest(attempts, 1), lease_owner = %(worker)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = ANY(%(names)s);

-- name: fail
UPDATE document_stage
SET state = CASE WHEN name = %(failed)s THEN 'failed' WHEN name = 'convert' THEN 'succeeded' ELSE 'waiting' END,
    finished_at = now(), lease_token = NULL, lease_expires_at = NULL,
    error_class = CASE WHEN name = %(failed)s THEN %(error_class)s END,
    error_message = CASE WHEN name = %(failed)s THEN %(error_message)s END
WHERE workspace_id = %(workspace_id)s AND lease_token = %(lease_token)s;

-- name: release
-- Queues the stage again, at its old place or after a delay; `uncount` reverts the count of attempts.
UPDATE document_stage
SET state = CASE WHEN name = 'chunk' THEN 'waiting' ELSE 'queued' END,
    lease_token = NULL, lease_expires_at = NULL, page = NULL, pages = NULL, attempts = attempts - %(uncount)s,
    postponements = postponements + %(postponed)s, losses = losses + %(lost)s,
    available_at = CASE WHEN %(delay)s > 0 THEN now() + make_interval(secs => %(delay)s) ELSE coalesce(queued_at, now()) END,
    error_class = CASE WHEN name <> 'chunk' THEN %(error_class)s END,
    error_message = CASE WHEN name <> 'chunk' THEN %(error_message)s END
WHERE workspace_id = %(workspace_id)s AND lease_token = %(lease_token)s;

-- name: abandon
-- Releases the stage of a document that is being deleted, so that its objects can be deleted.
UPDATE document_stage SET state = 'waiting', lease_token = NULL, lease_expires_at = NULL
WHERE workspace_id = %(workspace_id)s AND lease_token = %(lease_token)s;

-- name: announced_again
UPDATE document_stage
SET dispatched_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND state = 'queued'
  AND now() - dispatched_at > greatest(make_interval(secs => %(resend_after)s), dispatched_at - queued_at);

-- name: unanswered
-- Returns documents that were published but not confirmed for a while; the interval grows with each publication.
SELECT workspace_id, document_id
FROM document_stage
WHERE state = 'queued' AND name IN ('index', 'graph') AND name = %(name)s
  AND dispatched_at < now() - make_interval(secs => %(resend_after)s)
  AND now() - dispatched_at > dispatched_at - queued_at
ORDER BY dispatched_at
LIMIT 100;
