-- Whoever waits for a receipt is woken once it is complete, and what deletes documents once for all of a statement: not at
-- each step of each document.
SET LOCAL lock_timeout = '2s';
DROP TRIGGER deletion_changed ON deletion;
CREATE TRIGGER deletion_inserted AFTER INSERT ON deletion FOR EACH STATEMENT EXECUTE FUNCTION notify_work('work');
CREATE OR REPLACE FUNCTION notify_stage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_document', NEW.document_id::text);
    RETURN NULL;
END $$;
CREATE TRIGGER deletion_completed AFTER UPDATE ON deletion
    FOR EACH ROW WHEN (OLD.completed_at IS NULL AND NEW.completed_at IS NOT NULL) EXECUTE FUNCTION notify_stage();
CREATE TRIGGER stage_released AFTER UPDATE ON document_stage
    FOR EACH ROW WHEN (OLD.state = 'running' AND NEW.state = 'waiting') EXECUTE FUNCTION notify_work('work');
