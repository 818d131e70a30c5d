-- What workers choose from, and what wakes the dispatcher.

-- When a queued stage may begin: its place in the queue of its workspace.
ALTER TABLE document_stage
    ADD COLUMN due_at timestamptz GENERATED ALWAYS AS (greatest(queued_at, not_before)) STORED;
DROP INDEX document_stage_queue;
CREATE INDEX document_stage_queue ON document_stage (lane, workspace_id, due_at)
    WHERE status = 'queued' AND name IN ('convert', 'embed');
DROP INDEX document_stage_in_flight;
CREATE INDEX document_stage_running ON document_stage (workspace_id, lane) WHERE status = 'running';
-- What was told, and is confirmed by others.
CREATE INDEX document_stage_told ON document_stage (name, dispatched_at)
    WHERE status = 'queued' AND name IN ('index', 'graph');

-- <schema>_queue: there is something for a worker to do, or a worker to do it.
CREATE FUNCTION notify_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_queue', '');
    RETURN NULL;
END $$;
CREATE TRIGGER stage_queued_first AFTER INSERT ON document_stage
    FOR EACH ROW WHEN (NEW.status = 'queued' AND NEW.name IN ('convert', 'embed')) EXECUTE FUNCTION notify_queue();
CREATE TRIGGER stage_queued AFTER UPDATE ON document_stage
    FOR EACH ROW WHEN (NEW.status = 'queued' AND NEW.name IN ('convert', 'embed')
                       AND (OLD.status <> 'queued' OR NEW.due_at < OLD.due_at OR NEW.lane <> OLD.lane))
    EXECUTE FUNCTION notify_queue();
CREATE TRIGGER sync_queued_first AFTER INSERT ON source_sync
    FOR EACH ROW WHEN (NEW.status = 'queued') EXECUTE FUNCTION notify_queue();
CREATE TRIGGER sync_queued AFTER UPDATE ON source_sync
    FOR EACH ROW WHEN (NEW.status = 'queued' AND OLD.status <> 'queued') EXECUTE FUNCTION notify_queue();
CREATE TRIGGER worker_came AFTER INSERT ON worker FOR EACH ROW EXECUTE FUNCTION notify_queue();
CREATE TRIGGER worker_changed AFTER UPDATE ON worker
    FOR EACH ROW WHEN (OLD.slots <> NEW.slots) EXECUTE FUNCTION notify_queue();
