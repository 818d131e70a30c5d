-- A memory for each message that was said, and facts with the times at which they were true and known.

ALTER TABLE memory
    ALTER COLUMN embedding_model DROP NOT NULL,
    ALTER COLUMN embedding DROP NOT NULL,
    DROP CONSTRAINT memory_kind_check,
    ADD CONSTRAINT memory_kind_check
        CHECK (kind IN ('episode', 'note', 'fact', 'preference', 'style', 'topic')),
    ADD COLUMN scope text NOT NULL DEFAULT 'user' CHECK (scope IN ('user', 'session', 'workspace')),
    ADD COLUMN said_at timestamptz,
    -- Of the text: its index terms, and its distinct wordpieces (relevance.wordpieces); null until they are made.
    ADD COLUMN terms text[],
    ADD COLUMN pieces bytea,
    -- The owner's revision with which the row came or changed.
    ADD COLUMN revision bigint NOT NULL DEFAULT 0;
UPDATE memory SET said_at = created_at;
ALTER TABLE memory ALTER COLUMN said_at SET NOT NULL, ALTER COLUMN said_at SET DEFAULT now();
-- A turn leaves a memory for each of its messages, whose id is the memory's.
DROP INDEX memory_run;
CREATE INDEX memory_run ON memory (workspace_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX memory_revision ON memory (workspace_id, created_by, revision);

-- Counts the changes of a user's memories, so that an index in a process knows what it has missed: rows with a later
-- revision, or anything at all if something was removed since. Whoever writes holds the row until the transaction ends.
CREATE TABLE owner_revision (
    workspace_id uuid NOT NULL,
    user_id uuid NOT NULL,
    revision bigint NOT NULL DEFAULT 1,
    removed_at_revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, user_id)
);
INSERT INTO owner_revision (workspace_id, user_id) SELECT DISTINCT workspace_id, created_by FROM memory;
SELECT protect('owner_revision');
-- The second wall: a transaction of a user sees no rows of another.
CREATE POLICY owner ON owner_revision AS RESTRICTIVE
USING (nullif(current_setting('app.user_id', true), '') IS NULL OR user_id::text = current_setting('app.user_id', true))
WITH CHECK (
    nullif(current_setting('app.user_id', true), '') IS NULL OR user_id::text = current_setting('app.user_id', true)
);

CREATE FUNCTION count_removed_memories() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE owner_revision AS owner
    SET revision = owner.revision + 1, removed_at_revision = owner.revision + 1
    FROM (SELECT DISTINCT workspace_id, created_by FROM gone) AS affected
    WHERE owner.workspace_id = affected.workspace_id AND owner.user_id = affected.created_by;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_removed AFTER DELETE ON memory REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION count_removed_memories();

-- What was said: by whom, and where in its session. Rows are only added, and deleted.
CREATE TABLE episode (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    position integer NOT NULL,
    speaker text NOT NULL,
    -- 'turn': question and answer in one text, as they were kept at first.
    role text NOT NULL CHECK (role IN ('user', 'assistant', 'speaker', 'turn')),
    time_zone text NOT NULL DEFAULT 'UTC',
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, id) REFERENCES memory ON DELETE CASCADE
);
CREATE UNIQUE INDEX episode_place ON episode (workspace_id, session_id, position);
INSERT INTO episode (workspace_id, id, session_id, position, speaker, role)
SELECT
    workspace_id, id, session_id,
    row_number() OVER (PARTITION BY workspace_id, session_id ORDER BY created_at, id) - 1,
    '', 'turn'
FROM memory WHERE kind = 'episode' AND session_id IS NOT NULL;
SELECT protect('episode');

-- A statement that holds from `valid_from` to before `valid_to` in the world, and that was believed from its memory's
-- `created_at` to `expired_at`. `superseded_by` is the fact that closed it, `conflicts_with` one that says otherwise.
CREATE TABLE fact (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    subject text NOT NULL,
    predicate text NOT NULL,
    object text NOT NULL,
    -- The words in which the time was told, beside the date that they mean.
    phrase text,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    expired_at timestamptz,
    supersedes uuid,
    conflicts_with uuid,
    approved boolean NOT NULL DEFAULT true,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, id) REFERENCES memory ON DELETE CASCADE
);
CREATE INDEX fact_about ON fact (workspace_id, user_id, subject, predicate);
CREATE INDEX fact_supersedes ON fact (workspace_id, supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX fact_conflicts ON fact (workspace_id, conflicts_with) WHERE conflicts_with IS NOT NULL;
SELECT protect('fact');
-- The second wall: a transaction of a user sees no rows of another.
CREATE POLICY owner ON fact AS RESTRICTIVE
USING (nullif(current_setting('app.user_id', true), '') IS NULL OR user_id::text = current_setting('app.user_id', true))
WITH CHECK (
    nullif(current_setting('app.user_id', true), '') IS NULL OR user_id::text = current_setting('app.user_id', true)
);

-- The messages that state a fact.
CREATE TABLE fact_source (
    workspace_id uuid NOT NULL,
    fact_id uuid NOT NULL,
    episode_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, fact_id, episode_id),
    FOREIGN KEY (workspace_id, fact_id) REFERENCES fact ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, episode_id) REFERENCES episode ON DELETE CASCADE
);
CREATE INDEX fact_source_episode ON fact_source (workspace_id, episode_id);
SELECT protect('fact_source');

-- A fact goes with the last message that states it; facts that users stored themselves have none.
CREATE FUNCTION delete_unstated_facts() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM memory USING (SELECT DISTINCT workspace_id, fact_id FROM gone) AS unstated
    WHERE
        memory.workspace_id = unstated.workspace_id
        AND memory.id = unstated.fact_id
        AND NOT EXISTS (
            SELECT FROM fact_source AS other
            WHERE other.workspace_id = unstated.workspace_id AND other.fact_id = unstated.fact_id
        );
    RETURN NULL;
END $$;
CREATE TRIGGER fact_source_removed AFTER DELETE ON fact_source REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION delete_unstated_facts();

-- What a deleted fact had closed is open again, as if the deleted one had never been told; nor does it conflict any more.
CREATE FUNCTION reopen_facts() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE fact AS earlier SET valid_to = NULL, expired_at = NULL
    FROM gone
    WHERE earlier.workspace_id = gone.workspace_id AND earlier.id = gone.supersedes;
    UPDATE fact AS other SET conflicts_with = NULL
    FROM gone
    WHERE other.workspace_id = gone.workspace_id AND other.conflicts_with = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER fact_removed AFTER DELETE ON fact REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION reopen_facts();

-- How a workspace keeps facts; without a row they are kept.
CREATE TABLE memory_settings (
    workspace_id uuid PRIMARY KEY,
    writing text NOT NULL CHECK (writing IN ('on', 'review', 'off'))
);
SELECT protect('memory_settings');
