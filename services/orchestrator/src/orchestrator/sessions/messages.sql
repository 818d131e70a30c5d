-- name: lock
-- Returns the head. Until the transaction ends nobody else adds messages to the session or takes some from it.
SELECT head_id FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s AND created_by = %(user_id)s
FOR NO KEY UPDATE;

-- name: session_of
-- Returns the session of a message, if it is the caller's.
SELECT session.id FROM message
JOIN session ON session.workspace_id = message.workspace_id AND session.id = message.session_id
WHERE message.workspace_id = %(workspace_id)s AND message.id = %(id)s AND session.created_by = %(user_id)s;

-- name: find
SELECT id, parent_id, run_id, role FROM message
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND id = %(id)s;

-- name: path
-- Returns a page of the messages from the first one to the tip, or of the last ones of these.
WITH RECURSIVE path AS (
    SELECT id, parent_id, 0 AS distance FROM message
    WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND id = %(tip_id)s
    UNION ALL
    SELECT earlier.id, earlier.parent_id, path.distance + 1
    FROM path CROSS JOIN LATERAL (
        SELECT id, parent_id FROM message WHERE workspace_id = %(workspace_id)s AND id = path.parent_id
    ) AS earlier
    WHERE %(last)s::integer IS NULL OR path.distance + 1 < %(last)s
), placed AS (
    SELECT id, row_number() OVER (ORDER BY distance DESC) AS place FROM path
    ORDER BY place
    OFFSET %(places)s LIMIT %(limit)s
)
SELECT {columns}, {siblings}
FROM placed
JOIN message ON message.workspace_id = %(workspace_id)s AND message.id = placed.id
LEFT JOIN run ON run.workspace_id = message.workspace_id AND run.id = message.run_id
ORDER BY placed.place;

-- name: all
SELECT {columns}, {siblings}
FROM message
LEFT JOIN run ON run.workspace_id = message.workspace_id AND run.id = message.run_id
WHERE message.workspace_id = %(workspace_id)s AND message.session_id = %(session_id)s
  AND (%(after_at)s::timestamptz IS NULL OR (message.created_at, message.id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY message.created_at, message.id
LIMIT %(limit)s;

-- name: newest_below
-- Returns the end of the path that begins at the message and goes on to the newest child each time.
WITH RECURSIVE path AS (
    SELECT %(id)s::uuid AS id, 0 AS distance
    UNION ALL
    SELECT child.id, path.distance + 1
    FROM path CROSS JOIN LATERAL (
        SELECT id FROM message WHERE workspace_id = %(workspace_id)s AND parent_id = path.id
        ORDER BY created_at DESC, id DESC
        LIMIT 1
    ) AS child
)
SELECT id FROM path ORDER BY distance DESC LIMIT 1;

-- name: set_head
UPDATE session SET head_id = %(head_id)s
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s
RETURNING {session_columns};

-- name: ask
-- Queues the run with its answer and, where there is one, the new question; the answer becomes the head.
WITH new_run AS (
    INSERT INTO run (workspace_id, id, session_id, parent_run_id, created_by, role, key_id, delegation, traceparent,
                     idempotency_key, document_ids, attempts_left, deadline_seconds, options)
    VALUES (%(workspace_id)s, %(run_id)s, %(session_id)s, %(parent_run_id)s, %(user_id)s, %(role)s, %(key_id)s,
            %(delegation)s, %(traceparent)s, %(key)s, %(document_ids)s::uuid[], %(max_attempts)s,
            %(deadline_seconds)s, %(options)s)
    RETURNING id, created_at
), question AS (
    INSERT INTO message (workspace_id, id, session_id, parent_id, run_id, role, content, attachment_ids, created_at)
    SELECT %(workspace_id)s, %(question_id)s, %(session_id)s, %(parent_id)s, id, 'user', %(content)s,
           %(attachment_ids)s::uuid[], created_at
    FROM new_run
    WHERE %(content)s::text IS NOT NULL
), answer AS (
    INSERT INTO message (workspace_id, id, session_id, parent_id, run_id, role, content, status, created_at)
    SELECT %(workspace_id)s, %(answer_id)s, %(session_id)s, %(question_id)s, id, 'assistant', '', 'pending',
           created_at + interval '1 microsecond'
    FROM new_run
), moved AS (
    UPDATE session SET head_id = %(answer_id)s
    FROM new_run
    WHERE session.workspace_id = %(workspace_id)s AND session.id = %(session_id)s
)
SELECT id, %(question_id)s::uuid AS question_id, %(answer_id)s::uuid AS answer_id, created_at FROM new_run;

-- name: asked_before
-- Returns the run that the key queued, and what it was asked.
SELECT run.id, question.id AS question_id, answer.id AS answer_id, question.content, question.attachment_ids, question.parent_id,
       question.run_id IS NOT DISTINCT FROM run.id AS is_first, run.document_ids, run.options
FROM run
JOIN message AS answer
    ON answer.workspace_id = run.workspace_id AND answer.run_id = run.id AND answer.role = 'assistant'
JOIN message AS question ON question.workspace_id = answer.workspace_id AND question.id = answer.parent_id
WHERE run.workspace_id = %(workspace_id)s AND run.session_id = %(session_id)s AND run.idempotency_key = %(key)s;

-- name: document_ids
SELECT document_ids FROM run WHERE workspace_id = %(workspace_id)s AND id = %(run_id)s;

-- name: options
SELECT options FROM run WHERE workspace_id = %(workspace_id)s AND id = %(run_id)s;

-- name: subtree
-- Returns the message and all below it.
WITH RECURSIVE subtree AS (
    SELECT id, parent_id, run_id, role FROM message
    WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND id = %(id)s
    UNION ALL
    SELECT child.id, child.parent_id, child.run_id, child.role
    FROM subtree JOIN message AS child ON child.workspace_id = %(workspace_id)s AND child.parent_id = subtree.id
)
SELECT id, parent_id, run_id, role FROM subtree;

-- name: delete
DELETE FROM message WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: forget_runs
-- A question stays when its answer is deleted with its run.
UPDATE message SET run_id = NULL WHERE workspace_id = %(workspace_id)s AND run_id = ANY(%(run_ids)s);

-- name: delete_runs
-- Tells the processes that work on them.
DELETE FROM run
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(run_ids)s)
RETURNING pg_notify('orchestrator_run_cancelled', id::text);
