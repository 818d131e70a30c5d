-- The users whose memories are to be embedded, or embedded anew: work of service_kit.work. `model` is the one by which
-- all of them were embedded at last.
CREATE TABLE embedding_work (
    workspace_id uuid NOT NULL,
    user_id uuid NOT NULL,
    model text,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'idle')),
    available_at timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0,
    lease_token uuid,
    lease_owner text,
    lease_expires_at timestamptz,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX embedding_work_waiting ON embedding_work (workspace_id, available_at) WHERE state = 'queued';
CREATE INDEX embedding_work_held ON embedding_work (workspace_id, lease_token) WHERE lease_token IS NOT NULL;
SELECT protect_queue('embedding_work');
-- The second wall: a transaction of a user sees no rows of another.
CREATE POLICY owner ON embedding_work AS RESTRICTIVE
USING (nullif(current_setting('app.user_id', true), '') IS NULL OR user_id::text = current_setting('app.user_id', true))
WITH CHECK (
    nullif(current_setting('app.user_id', true), '') IS NULL OR user_id::text = current_setting('app.user_id', true)
);
SELECT wake_workers('embedding_work', 'embedding_work');

-- Reads what is to be embedded of a user, whatever the model.
CREATE INDEX memory_embedding_model ON memory (workspace_id, created_by, embedding_model);

INSERT INTO embedding_work (workspace_id, user_id) SELECT DISTINCT workspace_id, created_by FROM memory;

CREATE FUNCTION queue_embedding() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO embedding_work AS work (workspace_id, user_id)
    SELECT DISTINCT workspace_id, created_by FROM added WHERE embedding IS NULL
    ON CONFLICT (workspace_id, user_id) DO UPDATE SET state = 'queued', available_at = now()
    WHERE work.lease_token IS NULL OR work.state <> 'queued';
    INSERT INTO embedding_work (workspace_id, user_id, model, state)
    SELECT DISTINCT ON (created_by) workspace_id, created_by, embedding_model, 'idle' FROM added
    WHERE embedding IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_added AFTER INSERT ON memory REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION queue_embedding();
