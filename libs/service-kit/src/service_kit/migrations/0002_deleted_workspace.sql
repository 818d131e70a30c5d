-- A workspace that was deleted: its id is kept for good, so that nothing that comes late brings anything of it back.
-- `removed` adds up over the rounds of the purge; `purged_at` is null while there is something to do.
CREATE TABLE deleted_workspace (
    workspace_id uuid PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    purged_at timestamptz,
    removed jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX deleted_workspace_waiting ON deleted_workspace (deleted_at) WHERE purged_at IS NULL;
SELECT protect_queue('deleted_workspace');

CREATE FUNCTION workspace_lock(target uuid) RETURNS bigint LANGUAGE sql STABLE SET search_path FROM CURRENT
AS $$ SELECT hashtextextended(current_schema() || '/workspace/' || target, 0) $$;

-- Whether it may still be written to. Until the transaction ends it cannot be deleted meanwhile: every row that was
-- written before the deletion is there to be purged, and none is written after it.
CREATE FUNCTION is_living(target uuid) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(workspace_lock(target));
    RETURN NOT EXISTS (SELECT FROM deleted_workspace WHERE workspace_id = target);
END $$;

-- Waits for the transactions that write to the workspace; asking again starts another round.
CREATE FUNCTION delete_workspace(target uuid) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(workspace_lock(target));
    INSERT INTO deleted_workspace (workspace_id) VALUES (target)
    ON CONFLICT (workspace_id) DO UPDATE SET purged_at = NULL;
    PERFORM pg_notify(current_schema() || '_workspace_deleted', target::text);
END $$;

CREATE FUNCTION first_time(target uuid, event uuid) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT is_living(target) THEN
        RETURN false;
    END IF;
    INSERT INTO handled_event (workspace_id, event_id) VALUES (target, event) ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

CREATE FUNCTION refuse_deleted_workspace() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    target uuid;
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        target := NEW.workspace_id;
    ELSE
        target := current_workspace();
    END IF;
    IF target IS NOT NULL AND NOT is_living(target) THEN
        RAISE EXCEPTION 'workspace % is deleted', target USING ERRCODE = 'WS404';
    END IF;
    RETURN NEW;
END $$;

-- Once per statement where the transaction is bound to a workspace; row by row only in the system scope.
CREATE FUNCTION guard(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER refuse_deleted_workspace BEFORE INSERT ON %s '
                   'FOR EACH STATEMENT EXECUTE FUNCTION refuse_deleted_workspace()', target);
    EXECUTE format('CREATE TRIGGER refuse_deleted_workspace_row BEFORE INSERT ON %s '
                   'FOR EACH ROW WHEN (is_system()) EXECUTE FUNCTION refuse_deleted_workspace()', target);
END $$;

CREATE OR REPLACE FUNCTION protect(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
    EXECUTE format('CREATE POLICY workspace ON %s USING (workspace_id = current_workspace()) '
                   'WITH CHECK (workspace_id = current_workspace())', target);
    PERFORM guard(target);
END $$;

-- What is there already. Not the outbox: the purge itself tells through it, and what it holds leaves within moments.
SELECT guard(c.oid::regclass)
FROM pg_policy AS p
JOIN pg_class AS c ON c.oid = p.polrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND p.polname = 'workspace' AND c.relname NOT IN ('outbox', 'deleted_workspace')
ORDER BY c.relname;
