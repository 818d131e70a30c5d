-- What to do next in the lanes given: what users wait for first, then the workspaces that have the least in work, in
-- turn. The recursion steps from one (lane, workspace) to the next in the index, however many rows lie between.
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
LIMIT %(limit)s
