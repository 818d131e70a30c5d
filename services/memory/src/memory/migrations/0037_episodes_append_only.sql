-- The ledger of what was said is append-only: rows come and go, but nothing that they say changes. No row can move to
-- another workspace, nor in its user's transaction to another user, anyway.

CREATE FUNCTION refuse_changed_episode() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was said does not change' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER episode_stays BEFORE UPDATE ON episode
FOR EACH ROW WHEN (
    (OLD.id, OLD.session_id, OLD.position, OLD.speaker, OLD.role, OLD.time_zone, OLD.says_nothing)
    IS DISTINCT FROM
    (NEW.id, NEW.session_id, NEW.position, NEW.speaker, NEW.role, NEW.time_zone, NEW.says_nothing)
) EXECUTE FUNCTION refuse_changed_episode();
CREATE TRIGGER said_stays BEFORE UPDATE OF id, kind, content, session_id, run_id, scope, said_at ON memory
FOR EACH ROW WHEN (
    OLD.kind = 'episode'
    AND (OLD.id, OLD.kind, OLD.content, OLD.session_id, OLD.run_id, OLD.scope, OLD.said_at)
    IS DISTINCT FROM
    (NEW.id, NEW.kind, NEW.content, NEW.session_id, NEW.run_id, NEW.scope, NEW.said_at)
) EXECUTE FUNCTION refuse_changed_episode();
