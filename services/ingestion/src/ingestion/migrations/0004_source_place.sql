-- What the source was found on when it last succeeded, and since when it has not been seen for too long.
ALTER TABLE source
    ADD COLUMN place text,
    ADD COLUMN stale_since timestamptz;

-- <schema>_source tells what watches folders that a source has come, changed or gone.
CREATE FUNCTION notify_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_source', NEW.id::text);
    RETURN NULL;
END $$;
CREATE TRIGGER source_inserted AFTER INSERT ON source FOR EACH ROW EXECUTE FUNCTION notify_source();
CREATE TRIGGER source_changed AFTER UPDATE ON source
    FOR EACH ROW WHEN (OLD.version <> NEW.version OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)
    EXECUTE FUNCTION notify_source();
