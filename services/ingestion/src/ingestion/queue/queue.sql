-- name: capacity
-- Returns live workers and slots, and for each lane how much is running and due (counted only up to the slots).
SELECT live.workers, live.slots, lane.name AS lane,
       (SELECT count(*) FROM document_stage AS stage
        WHERE stage.lease_token IS NOT NULL AND stage.name IN ('convert', 'embed') AND stage.lane = lane.name) AS running,
       (SELECT count(*) FROM (
            SELECT FROM document_stage AS stage
            WHERE stage.state = 'queued' AND stage.name IN ('convert', 'embed') AND stage.lane = lane.name
              AND stage.available_at <= now()
            LIMIT live.slots + %(beside)s * live.workers
        ) AS due) AS due
FROM (
    SELECT count(*) AS workers, coalesce(sum(slots), 0) AS slots FROM worker
    WHERE slots > 0 AND seen_at > now() - make_interval(secs => %(lease)s)
) AS live
CROSS JOIN (VALUES ('interactive'), ('bulk')) AS lane (name);

-- name: sync_load
-- Returns synchronisations that run and that are due, and how long the oldest has been due; a source runs only one at a time.
SELECT count(*) FILTER (WHERE state = 'running') AS running, count(*) FILTER (WHERE due) AS waiting,
       coalesce(extract(epoch FROM now() - min(available_at) FILTER (WHERE due)), 0)::float8 AS oldest_seconds
FROM (
    SELECT state, available_at,
           state = 'queued' AND available_at <= now()
             AND (dry_run OR NOT EXISTS (
                 SELECT FROM source_sync AS other
                 WHERE other.workspace_id = sync.workspace_id AND other.source_id = sync.source_id
                   AND other.state = 'running' AND NOT other.dry_run)) AS due
    FROM source_sync AS sync
    WHERE state IN ('queued', 'running')
) AS syncs;

-- name: lane_work
-- Returns what runs and what is due of each lane, and how long the oldest has been due.
SELECT lane.name AS lane,
       (SELECT count(*) FROM document_stage AS stage
        WHERE stage.lease_token IS NOT NULL AND stage.name IN ('convert', 'embed') AND stage.lane = lane.name) AS running,
       due.waiting, due.oldest_seconds
FROM (VALUES ('interactive'), ('bulk')) AS lane (name)
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting, coalesce(extract(epoch FROM now() - min(stage.available_at)), 0)::float8 AS oldest_seconds
    FROM document_stage AS stage
    WHERE stage.state = 'queued' AND stage.name IN ('convert', 'embed') AND stage.lane = lane.name
      AND stage.lease_token IS NULL AND stage.available_at <= now()
) AS due;

-- name: depths
SELECT lane, name AS stage, count(*) AS depth, extract(epoch FROM now() - min(queued_at))::float8 AS oldest_seconds
FROM document_stage
WHERE state = 'queued' AND name IN ('convert', 'embed')
GROUP BY lane, name;

-- name: stages_by_state
SELECT name AS stage, state, count(*) FROM document_stage GROUP BY name, state;

-- name: sources_by_success
-- Counts sources by the age of their last success, and those overdue, which should have had three more since then.
SELECT count(*) FILTER (WHERE age < interval '1 hour'),
       count(*) FILTER (WHERE age >= interval '1 hour' AND age < interval '1 day'),
       count(*) FILTER (WHERE age >= interval '1 day' AND age < interval '7 days'),
       count(*) FILTER (WHERE age >= interval '7 days'),
       count(*) FILTER (WHERE age IS NULL),
       count(*) FILTER (WHERE now() - coalesce(last_success_at, created_at)
                              > make_interval(secs => 3.0 * every_seconds) + interval '10 minutes')
FROM (SELECT *, now() - last_success_at AS age FROM source WHERE deleted_at IS NULL AND NOT paused) AS followed;
