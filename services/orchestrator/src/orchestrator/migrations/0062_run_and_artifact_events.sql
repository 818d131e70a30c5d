-- Each state of a run, and each current version of an artifact, is an event, whoever changes it; not in temporary sessions.
CREATE FUNCTION tell_change(kind text, subject uuid, workspace uuid, session_id uuid, facts jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    INSERT INTO outbox (workspace_id, stream, event)
    SELECT tell_change.workspace, 'attractor.turns', jsonb_build_object(
        'id', gen_random_uuid(), 'source', 'orchestrator', 'type', tell_change.kind, 'time', clock_timestamp(),
        'subject', tell_change.subject, 'workspace_id', tell_change.workspace,
        'data', tell_change.facts || jsonb_build_object('session_id', session.id, 'user_id', session.created_by))
    FROM session
    WHERE session.workspace_id = tell_change.workspace AND session.id = tell_change.session_id AND NOT session.temporary
      AND NOT EXISTS (SELECT FROM deleted_workspace WHERE deleted_workspace.workspace_id = tell_change.workspace)
$$;

CREATE FUNCTION tell_run_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM tell_change('run.changed.v1', NEW.id, NEW.workspace_id, NEW.session_id,
                        jsonb_build_object('run_id', NEW.id, 'status', NEW.state));
    RETURN NULL;
END $$;
CREATE TRIGGER run_event_inserted AFTER INSERT ON run FOR EACH ROW EXECUTE FUNCTION tell_run_changed();
CREATE TRIGGER run_event_changed AFTER UPDATE ON run
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION tell_run_changed();

CREATE FUNCTION tell_artifact_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM tell_change('artifact.changed.v1', OLD.id, OLD.workspace_id, OLD.session_id, '{"index": null}');
    ELSE
        PERFORM tell_change('artifact.changed.v1', NEW.id, NEW.workspace_id, NEW.session_id,
                            jsonb_build_object('index', NEW.current_index));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER artifact_event_ended AFTER INSERT OR DELETE ON artifact
    FOR EACH ROW EXECUTE FUNCTION tell_artifact_changed();
CREATE TRIGGER artifact_event_changed AFTER UPDATE ON artifact
    FOR EACH ROW WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION tell_artifact_changed();
