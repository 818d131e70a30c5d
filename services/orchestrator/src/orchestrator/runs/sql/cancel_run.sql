-- A waiting run ends here and now; a running one is told to its process. An ended one stays as it is.
WITH asked AS (
    UPDATE run
    SET cancel_requested = true,
        status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END,
        finished_at = CASE status WHEN 'queued' THEN now() END
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
      AND status IN ('queued', 'running')
    RETURNING status, attempts
)
SELECT status, attempts, pg_notify('orchestrator_run_cancelled', %(id)s::text) AS told FROM asked
