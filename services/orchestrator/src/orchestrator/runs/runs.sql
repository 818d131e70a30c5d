-- name: exists
SELECT EXISTS (SELECT FROM run WHERE workspace_id = %(workspace_id)s AND id = %(id)s);

-- name: find
-- Returns a run with its answer, if that has a text.
SELECT {run_columns}, CASE WHEN %(debug)s THEN run.debug END AS debug, to_jsonb(answer) AS answer
FROM run
JOIN message AS written
    ON written.workspace_id = run.workspace_id AND written.run_id = run.id AND written.role = 'assistant'
LEFT JOIN LATERAL (
    SELECT {message_columns} FROM message
    WHERE message.workspace_id = written.workspace_id AND message.id = written.id AND message.content <> ''
) AS answer ON true
WHERE run.workspace_id = %(workspace_id)s AND run.id = %(id)s AND run.created_by = %(user_id)s;

-- name: page
-- Returns runs without their answers.
SELECT {run_columns}
FROM run
JOIN message AS written
    ON written.workspace_id = run.workspace_id AND written.run_id = run.id AND written.role = 'assistant'
WHERE run.workspace_id = %(workspace_id)s AND run.created_by = %(user_id)s
  AND (run.session_id = %(session_id)s OR %(session_id)s::uuid IS NULL AND NOT EXISTS (
      SELECT FROM temporary_session AS hidden
      WHERE hidden.workspace_id = run.workspace_id AND hidden.session_id = run.session_id))
  AND (%(states)s::text[] IS NULL OR run.state = ANY(%(states)s))
  AND (%(before_at)s::timestamptz IS NULL OR (run.created_at, run.id) < (%(before_at)s, %(before_id)s::uuid))
ORDER BY run.created_at DESC, run.id DESC
LIMIT %(limit)s;

-- name: cancel
-- A run that nobody began ends here and now; a running one is told to its process. If that has died or gave the run back, the
-- next one ends it, and keeps what is written. An ended one stays as it is.
WITH asked AS (
    UPDATE run
    SET cancel_requested = true,
        state = CASE
            WHEN state = 'queued' AND attempts = 0 THEN 'cancelled'
            WHEN lease_expires_at < now() THEN 'queued'
            ELSE state
        END,
        available_at = least(available_at, now()),
        lease_token = CASE WHEN lease_expires_at >= now() THEN lease_token END,
        lease_expires_at = CASE WHEN lease_expires_at >= now() THEN lease_expires_at END,
        finished_at = CASE WHEN state = 'queued' AND attempts = 0 THEN now() END,
        delegation = CASE WHEN state = 'queued' AND attempts = 0 THEN NULL ELSE delegation END
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
      AND state IN ('queued', 'running')
    RETURNING state, attempts, session_id
), marked AS (
    UPDATE message SET status = 'cancelled'
    FROM asked
    WHERE asked.state = 'cancelled' AND message.workspace_id = %(workspace_id)s AND message.run_id = %(id)s
      AND message.role = 'assistant'
)
SELECT asked.state AS status, asked.attempts, asked.session_id, session.temporary,
       pg_notify('orchestrator_run_cancelled', %(id)s::text) AS notified
FROM asked
JOIN session ON session.workspace_id = %(workspace_id)s AND session.id = asked.session_id;

-- name: one_at_a_time
-- Has the requests of one user that queue a run wait for each other, so that each counts what is there.
SELECT pg_advisory_xact_lock(hashtextextended('queue ' || %(workspace_id)s::text || %(user_id)s::text, 0));

-- name: queued
SELECT count(*) FROM (
    SELECT FROM run
    WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND state = 'queued'
    LIMIT %(most)s
) AS waiting;

-- name: retry
-- Queues a failed run again, in the name of who asks now; its terminal event no longer counts.
WITH queued AS (
    UPDATE run
    SET state = 'queued', available_at = now(), attempts_left = %(max_attempts)s, cancel_requested = false,
        role = %(role)s, key_id = %(key_id)s, delegation = %(delegation)s, traceparent = %(traceparent)s, error_type = NULL,
        error_message = NULL, started_at = NULL, finished_at = NULL
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s AND state = 'failed'
    RETURNING id
), untold AS (
    DELETE FROM run_event USING queued
    WHERE run_event.workspace_id = %(workspace_id)s AND run_event.run_id = queued.id AND run_event.name = 'run_failed'
), unwritten AS (
    UPDATE message SET status = 'pending', content = '', citations = '[]', sentences = '[]', removed_citations = 0
    FROM queued
    WHERE message.workspace_id = %(workspace_id)s AND message.run_id = queued.id AND message.role = 'assistant'
)
SELECT id FROM queued;

-- name: messages
-- Returns the run's answer, its question, and the texts before it on its path, newest first, up to what stands for the rest.
WITH RECURSIVE path AS (
    SELECT answer.id, answer.parent_id, answer.role, answer.content, answer.attachment_ids, answer.created_at,
           false AS is_condensed, 0 AS distance,
           session.title IS NULL AS untitled, session.temporary
    FROM message AS answer
    JOIN session ON session.workspace_id = answer.workspace_id AND session.id = answer.session_id
    WHERE answer.workspace_id = %(workspace_id)s AND answer.run_id = %(id)s AND answer.role = 'assistant'
    UNION ALL
    SELECT earlier.id, earlier.parent_id, earlier.role, earlier.content, earlier.attachment_ids, earlier.created_at,
           earlier.is_condensed, path.distance + 1, path.untitled, path.temporary
    FROM path CROSS JOIN LATERAL (
        SELECT id, parent_id, attachment_ids, created_at, CASE WHEN condensed.stands THEN 'summary' ELSE role END AS role,
               CASE WHEN condensed.stands THEN summary ELSE content END AS content, condensed.stands AS is_condensed
        FROM message
        -- A question is asked in its own words, also where its first answer left nothing and both were condensed.
        CROSS JOIN LATERAL (SELECT summary IS NOT NULL AND path.distance > 0) AS condensed (stands)
        WHERE workspace_id = %(workspace_id)s AND id = path.parent_id
    ) AS earlier
    WHERE path.distance < %(limit)s AND NOT path.is_condensed
), measured AS (
    SELECT path.*, sum(length(content)) OVER (ORDER BY distance) - length(content) AS characters FROM path
)
SELECT id, role, content, attachment_ids, untitled, temporary, created_at FROM measured
WHERE distance < 2 OR content <> '' AND characters < %(characters)s
ORDER BY distance;

-- name: document_ids
-- Returns what the answer may draw on, what was attached last first: the session's documents if it has any (with the scope
-- session also if it has none, with a wider scope never), limited to those of the message; null is every document.
SELECT CASE WHEN %(scope)s::text = 'session' OR %(scope)s::text IS NULL AND EXISTS (
    SELECT FROM session_document AS attached
    WHERE attached.workspace_id = run.workspace_id AND attached.session_id = run.session_id
) THEN ARRAY(
    SELECT attached.document_id FROM session_document AS attached
    WHERE attached.workspace_id = run.workspace_id AND attached.session_id = run.session_id
      AND (run.document_ids IS NULL OR attached.document_id = ANY(run.document_ids))
    ORDER BY attached.attached_at DESC, attached.document_id
) ELSE run.document_ids END
FROM run
WHERE run.workspace_id = %(workspace_id)s AND run.id = %(id)s;

-- name: add_answer
UPDATE message
SET content = %(content)s, citations = %(citations)s, removed_citations = %(removed_citations)s, mode = %(mode)s,
    sentences = %(sentences)s, status = %(status)s
WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s AND role = 'assistant';

-- name: asked
SELECT question.id, question.created_at
FROM message AS answer
JOIN message AS question ON question.workspace_id = answer.workspace_id AND question.id = answer.parent_id
WHERE answer.workspace_id = %(workspace_id)s AND answer.run_id = %(run_id)s AND answer.role = 'assistant';

-- name: end_answer
UPDATE message SET status = %(status)s
WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s AND role = 'assistant';

-- name: hold_session
-- The session before its run: whoever changes the tree of messages holds it, and then stops or deletes runs. Returns
-- whether it is temporary.
SELECT temporary FROM session WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s FOR NO KEY UPDATE;

-- name: touch_session
-- A generated title is only for a session that has none: a title given meanwhile stays.
UPDATE session
SET updated_at = now(),
    version = version + CASE WHEN title IS NULL AND %(title)s::text IS NOT NULL THEN 1 ELSE 0 END,
    title = coalesce(title, %(title)s)
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s;

-- name: condense
UPDATE message SET summary = %(summary)s
WHERE workspace_id = %(workspace_id)s AND id = %(message_id)s;

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

-- name: add_events
INSERT INTO run_event (workspace_id, run_id, attempt, number, name, data)
SELECT %(workspace_id)s, %(run_id)s, %(attempt)s, told.number, told.name, told.data
FROM unnest(%(numbers)s::integer[], %(names)s::text[], %(data)s::text[]) AS told (number, name, data)
ON CONFLICT DO NOTHING;

-- name: events
SELECT attempt, number, name, data FROM run_event
WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s
  AND (attempt, number) > (%(attempt)s, %(number)s)
ORDER BY attempt, number;

-- name: delete_old_events
DELETE FROM run_event WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM run_event WHERE created_at < now() - make_interval(days => %(days)s) LIMIT %(limit)s));

-- name: abandoned_checkpoints
-- Returns threads whose run has ended or is gone; a failed run's are kept for a while, as it may be tried again.
SELECT DISTINCT thread_id
FROM checkpoints
WHERE thread_id NOT IN (
    SELECT id::text FROM run
    WHERE state IN ('queued', 'running')
       OR (state = 'failed' AND finished_at > now() - make_interval(hours => %(failed_hours)s))
)
LIMIT %(limit)s;

-- name: count_checkpoints
SELECT count(*) FROM checkpoints WHERE thread_id = ANY(%(threads)s);

-- name: waiting
SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0) FROM run WHERE state = 'queued';

-- name: checkpoint_bytes
SELECT coalesce((SELECT sum(pg_column_size(checkpoint) + pg_column_size(metadata)) FROM checkpoints), 0)
    + coalesce((SELECT sum(pg_column_size(blob)) FROM checkpoint_blobs), 0)
    + coalesce((SELECT sum(pg_column_size(blob)) FROM checkpoint_writes), 0);
