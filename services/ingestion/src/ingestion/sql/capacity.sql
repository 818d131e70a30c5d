-- Workers that live, and what each lane waits for and has in work; due ones are counted no further than needed.
SELECT live.workers, live.slots, lane.name AS lane,
       (SELECT count(*) FROM document_stage AS stage
        WHERE stage.status = 'running' AND stage.name IN ('convert', 'embed') AND stage.lane = lane.name) AS running,
       (SELECT count(*) FROM (
            SELECT FROM document_stage AS stage
            WHERE stage.status = 'queued' AND stage.name IN ('convert', 'embed') AND stage.lane = lane.name
              AND stage.due_at <= now()
            LIMIT live.slots + live.workers
        ) AS due) AS due
FROM (
    SELECT count(*) AS workers, coalesce(sum(slots), 0) AS slots FROM worker
    WHERE slots > 0 AND seen_at > now() - make_interval(secs => %(lease)s)
) AS live
CROSS JOIN (VALUES ('interactive'), ('bulk')) AS lane (name)
