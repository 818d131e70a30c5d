-- Whether a status shows what holds now, so that a turn that changes nothing of it does not compile it again.
ALTER TABLE project_status
    ADD COLUMN world_version integer NOT NULL DEFAULT -1,
    ADD COLUMN stale boolean NOT NULL DEFAULT true;

-- A memory without a vector that names a model is never searched for, so it lacks none.
CREATE OR REPLACE FUNCTION queue_embedding() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO embedding_work AS work (workspace_id, user_id)
    SELECT DISTINCT workspace_id, created_by FROM added WHERE embedding IS NULL AND embedding_model IS NULL
    ON CONFLICT (workspace_id, user_id) DO UPDATE SET state = 'queued', available_at = now()
    WHERE work.lease_token IS NULL OR work.state <> 'queued';
    INSERT INTO embedding_work (workspace_id, user_id, model, state)
    SELECT DISTINCT ON (created_by) workspace_id, created_by, embedding_model, 'idle' FROM added
    WHERE embedding IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
