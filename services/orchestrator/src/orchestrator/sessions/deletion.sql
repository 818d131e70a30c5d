-- name: end_runs
-- Ends what waits or is under way; the processes lose their leases and are told to look. Returns nothing without such a
-- session of the user. The session first: whoever ends a run holds it before the run, too.
WITH mine AS (
    SELECT id FROM session
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
      AND (%(version)s::integer IS NULL OR version = %(version)s)
    FOR UPDATE
), ended AS (
    UPDATE run
    SET state = 'cancelled', cancel_requested = true, finished_at = now(), lease_token = NULL, lease_expires_at = NULL,
        delegation = NULL
    FROM mine
    WHERE run.workspace_id = %(workspace_id)s AND run.session_id = mine.id AND run.state IN ('queued', 'running')
    RETURNING run.id
)
SELECT mine.id, (SELECT count(pg_notify('orchestrator_run_cancelled', ended.id::text)) FROM ended) AS told
FROM mine;

-- name: lock
-- Until the transaction ends, nothing is added to the session.
SELECT id FROM session WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s FOR UPDATE;

-- name: run_ids
SELECT id FROM run WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s;

-- name: count
SELECT (SELECT count(*) FROM message WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s) AS messages,
       (SELECT count(*) FROM run WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s) AS runs,
       (SELECT count(*) FROM run_event WHERE workspace_id = %(workspace_id)s AND run_id = ANY(%(run_ids)s)) AS events,
       (SELECT count(*) FROM artifact_version JOIN artifact ON artifact.id = artifact_version.artifact_id
        WHERE artifact_version.workspace_id = %(workspace_id)s AND artifact.workspace_id = %(workspace_id)s
          AND artifact.session_id = %(id)s) AS artifact_versions;

-- name: delete
-- Deletes the session and all that belongs to it; tells the processes that work on its runs.
WITH told AS (
    SELECT count(pg_notify('orchestrator_run_cancelled', id::text)) AS count
    FROM run WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s
), kept AS (
    INSERT INTO deleted_session (workspace_id, session_id) VALUES (%(workspace_id)s, %(id)s)
    RETURNING deleted_at
), deleted AS (
    DELETE FROM session WHERE workspace_id = %(workspace_id)s AND id = %(id)s
)
SELECT kept.deleted_at FROM kept, told;

-- name: deleted
-- Returns those of the sessions that are deleted. With the workspace's rows its deletions are gone, and all are.
SELECT session_id FROM unnest(%(ids)s::uuid[]) AS asked (session_id)
WHERE EXISTS (SELECT FROM deleted_workspace WHERE deleted_workspace.workspace_id = %(workspace_id)s)
   OR EXISTS (
       SELECT FROM deleted_session AS deleted
       WHERE deleted.workspace_id = %(workspace_id)s AND deleted.session_id = asked.session_id
   );

-- name: unused
-- Returns temporary sessions that nobody has used for a while.
SELECT workspace_id, session_id, created_by FROM temporary_session
WHERE used_at < now() - make_interval(hours => %(hours)s)
ORDER BY used_at
LIMIT %(limit)s;
