-- Every run of the workspace; those under way lose their lease, and their processes are told to look.
WITH ended AS (
    UPDATE run
    SET status = 'cancelled', cancel_requested = true, finished_at = now(),
        lease_owner = NULL, lease_token = NULL, lease_expires_at = NULL
    WHERE workspace_id = %(workspace_id)s AND status IN ('queued', 'running')
    RETURNING id
)
SELECT run.id, (SELECT count(pg_notify('orchestrator_run_cancelled', ended.id::text)) FROM ended) AS told
FROM run
WHERE run.workspace_id = %(workspace_id)s
