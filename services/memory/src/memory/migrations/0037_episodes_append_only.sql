-- The ledger of what was said is append-only: rows come and go, but nothing that they say changes.

CREATE FUNCTION refuse_changed_episode() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was said does not change' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER episode_stays BEFORE UPDATE ON episode
FOR EACH ROW EXECUTE FUNCTION refuse_changed_episode();
CREATE TRIGGER said_stays BEFORE UPDATE OF
    workspace_id, id, kind, content, created_by, session_id, run_id, scope, said_at ON memory
FOR EACH ROW WHEN (
    OLD.kind = 'episode'
    AND (
        OLD.workspace_id, OLD.id, OLD.kind, OLD.content, OLD.created_by, OLD.session_id, OLD.run_id, OLD.scope,
        OLD.said_at
    ) IS DISTINCT FROM (
        NEW.workspace_id, NEW.id, NEW.kind, NEW.content, NEW.created_by, NEW.session_id, NEW.run_id, NEW.scope,
        NEW.said_at
    )
) EXECUTE FUNCTION refuse_changed_episode();
