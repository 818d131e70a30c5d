-- name: find
-- Returns a run with its answer.
SELECT run.id, run.session_id, run.state AS status, run.mode, run.attempts, run.node_trace, run.issues, run.error_type,
       run.error_message, run.created_at, run.started_at, run.finished_at, to_jsonb(answer) AS answer
FROM run
LEFT JOIN LATERAL (
    SELECT {message_columns} FROM message
    WHERE message.workspace_id = run.workspace_id AND message.run_id = run.id AND message.role = 'assistant'
) AS answer ON true
WHERE run.workspace_id = %(workspace_id)s AND run.id = %(id)s AND run.created_by = %(user_id)s;

-- name: cancel
-- A waiting run ends here and now; a running one is told to its process. An ended one stays as it is.
WITH asked AS (
    UPDATE run
    SET cancel_requested = true,
        state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END,
        finished_at = CASE state WHEN 'queued' THEN now() END,
        delegation = CASE state WHEN 'queued' THEN NULL ELSE delegation END
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
      AND state IN ('queued', 'running')
    RETURNING state, attempts
)
SELECT state AS status, attempts, pg_notify('orchestrator_run_cancelled', %(id)s::text) AS notified FROM asked;

-- name: messages
-- Returns the turn's own question first, then the messages of the turns before it, newest first.
SELECT message.id, message.role, message.content, session.title IS NULL AS untitled
FROM run AS own
JOIN session ON session.workspace_id = own.workspace_id AND session.id = own.session_id
JOIN run AS turn ON turn.workspace_id = own.workspace_id AND turn.session_id = own.session_id
    AND (turn.created_at, turn.id) <= (own.created_at, own.id)
JOIN message ON message.workspace_id = turn.workspace_id AND message.run_id = turn.id
WHERE own.workspace_id = %(workspace_id)s AND own.id = %(id)s
ORDER BY turn.created_at DESC, turn.id DESC, message.created_at DESC, message.id DESC
LIMIT %(limit)s;

-- name: document_ids
-- Returns what the answer may draw on: the session's documents if it has any, limited to those of the message; null is
-- every document.
SELECT CASE WHEN EXISTS (
    SELECT FROM session_document AS attached
    WHERE attached.workspace_id = run.workspace_id AND attached.session_id = run.session_id
) THEN ARRAY(
    SELECT attached.document_id FROM session_document AS attached
    WHERE attached.workspace_id = run.workspace_id AND attached.session_id = run.session_id
      AND (run.document_ids IS NULL OR attached.document_id = ANY(run.document_ids))
) ELSE run.document_ids END
FROM run
WHERE run.workspace_id = %(workspace_id)s AND run.id = %(id)s;

-- name: add_answer
INSERT INTO message (workspace_id, id, session_id, run_id, role, content, citations, removed_citations, mode)
VALUES (%(workspace_id)s, %(message_id)s, %(session_id)s, %(run_id)s, 'assistant', %(content)s, %(citations)s,
        %(removed_citations)s, %(mode)s);

-- name: touch_session
-- A generated title is only for a session that has none: a title given meanwhile stays.
UPDATE session
SET updated_at = now(),
    version = version + CASE WHEN title IS NULL AND %(title)s::text IS NOT NULL THEN 1 ELSE 0 END,
    title = coalesce(title, %(title)s)
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s;

-- name: end_all
-- Ends every run of the workspace; those under way lose their lease, and their processes are told to look.
WITH ended AS (
    UPDATE run
    SET state = 'cancelled', cancel_requested = true, finished_at = now(), lease_token = NULL, lease_expires_at = NULL,
        delegation = NULL
    WHERE workspace_id = %(workspace_id)s AND state IN ('queued', 'running')
    RETURNING id
)
SELECT run.id, (SELECT count(pg_notify('orchestrator_run_cancelled', ended.id::text)) FROM ended) AS notified
FROM run
WHERE run.workspace_id = %(workspace_id)s;

-- name: abandoned_checkpoints
-- Returns threads whose run has ended or is gone.
SELECT DISTINCT thread_id
FROM checkpoints
WHERE thread_id NOT IN (SELECT id::text FROM run WHERE state IN ('queued', 'running'))
LIMIT %(limit)s;

-- name: count_checkpoints
SELECT count(*) FROM checkpoints WHERE thread_id = ANY(%(threads)s);
