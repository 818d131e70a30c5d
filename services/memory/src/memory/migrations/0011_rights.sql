-- People's rights: what is pinned stays, what is old goes, and what was forgotten does not come back.
ALTER TABLE memory ADD COLUMN pinned boolean NOT NULL DEFAULT false;
CREATE INDEX memory_age ON memory (workspace_id, created_at) WHERE NOT pinned;

-- Ids of forgotten memories, without a word of them: an event or an import that tells them again brings nothing back.
CREATE TABLE forgotten_memory (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    forgotten_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, id)
);
SELECT protect('forgotten_memory');
SELECT protect_owner('forgotten_memory', 'user_id');

-- The days for which a workspace keeps memories that nobody pinned; without a row they are kept. Read for all workspaces
-- by the task that applies them.
CREATE TABLE retention_rule (
    workspace_id uuid PRIMARY KEY,
    days integer NOT NULL
);
SELECT protect_queue('retention_rule');

ALTER TABLE world_event
    DROP CONSTRAINT world_event_kind_check,
    ADD CONSTRAINT world_event_kind_check
        CHECK (kind IN ('created', 'operation', 'reverted', 'repaired', 'forgotten'));
