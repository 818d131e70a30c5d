-- Messages form a tree: a question follows an answer, an answer follows its question, and a session's head is the tip of
-- the path that is shown. An answer is there once its run is queued. A run waits for its parent's run alone.
ALTER TABLE session ADD COLUMN head_id uuid;
ALTER TABLE run ADD COLUMN parent_run_id uuid;
ALTER TABLE message
    ALTER COLUMN run_id DROP NOT NULL,
    ADD COLUMN parent_id uuid,
    ADD COLUMN status text NOT NULL DEFAULT 'completed'
        CHECK (status IN ('pending', 'completed', 'incomplete', 'cancelled', 'failed'));

INSERT INTO message (workspace_id, id, session_id, run_id, role, content, status, created_at)
SELECT run.workspace_id, gen_random_uuid(), run.session_id, run.id, 'assistant', '',
       CASE WHEN run.state IN ('queued', 'running') THEN 'pending' ELSE run.state END,
       question.created_at + interval '1 microsecond'
FROM run
JOIN message AS question
    ON question.workspace_id = run.workspace_id AND question.run_id = run.id AND question.role = 'user'
WHERE NOT EXISTS (
    SELECT FROM message AS answer
    WHERE answer.workspace_id = run.workspace_id AND answer.run_id = run.id AND answer.role = 'assistant'
);

-- So far the turns of a session followed one another.
UPDATE message
SET parent_id = line.parent_id
FROM (
    SELECT one.workspace_id, one.id, lag(one.id) OVER (
        PARTITION BY one.workspace_id, one.session_id ORDER BY run.created_at, run.id, one.role = 'assistant'
    ) AS parent_id
    FROM message AS one JOIN run ON run.workspace_id = one.workspace_id AND run.id = one.run_id
) AS line
WHERE message.workspace_id = line.workspace_id AND message.id = line.id AND line.parent_id IS NOT NULL;

UPDATE session
SET head_id = tip.id
FROM message AS tip
WHERE tip.workspace_id = session.workspace_id AND tip.session_id = session.id
  AND NOT EXISTS (
      SELECT FROM message AS child WHERE child.workspace_id = tip.workspace_id AND child.parent_id = tip.id
  );

UPDATE run
SET parent_run_id = line.parent_run_id
FROM (
    SELECT workspace_id, id,
           lag(id) OVER (PARTITION BY workspace_id, session_id ORDER BY created_at, id) AS parent_run_id
    FROM run
) AS line
WHERE run.workspace_id = line.workspace_id AND run.id = line.id AND run.state IN ('queued', 'running');

-- No foreign key: it would delete a long conversation by one nested cascade per message. Whoever changes the tree holds the
-- lock of its session.
CREATE INDEX message_child ON message (workspace_id, parent_id, session_id);
