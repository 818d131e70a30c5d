-- Each state of a synchronisation is an event, whoever changes it.
CREATE FUNCTION tell_sync_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO outbox (workspace_id, stream, event)
    SELECT NEW.workspace_id, 'attractor.documents', jsonb_build_object(
        'id', gen_random_uuid(), 'source', 'ingestion', 'type', 'sync.changed.v1', 'time', clock_timestamp(),
        'subject', NEW.id, 'workspace_id', NEW.workspace_id, 'data', jsonb_build_object(
            'source_id', NEW.source_id, 'sync_id', NEW.id, 'status', NEW.state, 'dry_run', NEW.dry_run))
    WHERE NOT EXISTS (SELECT FROM deleted_workspace WHERE workspace_id = NEW.workspace_id);
    RETURN NULL;
END $$;
CREATE TRIGGER sync_event_inserted AFTER INSERT ON source_sync FOR EACH ROW EXECUTE FUNCTION tell_sync_changed();
CREATE TRIGGER sync_event_changed AFTER UPDATE ON source_sync
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION tell_sync_changed();
