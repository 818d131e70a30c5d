-- Stages are leased work (service_kit.work). What workers hold during the upgrade counts as lost soon.
DROP TRIGGER stage_queued ON document_stage;
DROP INDEX document_stage_queue, document_stage_running;
ALTER TABLE document_stage RENAME COLUMN status TO state;
ALTER TABLE document_stage RENAME COLUMN worker TO lease_owner;
ALTER TABLE document_stage RENAME COLUMN lease TO lease_token;
ALTER TABLE document_stage
    ADD COLUMN available_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN lease_expires_at timestamptz;
UPDATE document_stage
SET available_at = coalesce(due_at, now()),
    lease_expires_at = CASE WHEN lease_token IS NOT NULL THEN now() + interval '1 minute' END
WHERE state IN ('queued', 'running');
ALTER TABLE document_stage DROP COLUMN due_at, DROP COLUMN not_before;

CREATE INDEX document_stage_queue ON document_stage (lane, workspace_id, available_at)
    WHERE state = 'queued' AND name IN ('convert', 'embed') AND lease_token IS NULL;
CREATE INDEX document_stage_held ON document_stage (workspace_id, lease_token) WHERE lease_token IS NOT NULL;
-- What failed with its worker, and is not yet announced.
CREATE INDEX document_stage_lost ON document_stage (workspace_id) WHERE state = 'failed' AND finished_at IS NULL;
CREATE TRIGGER stage_queued AFTER UPDATE ON document_stage
    FOR EACH ROW WHEN (NEW.state = 'queued' AND NEW.name IN ('convert', 'embed')
                       AND (OLD.state <> 'queued' OR NEW.available_at < OLD.available_at OR NEW.lane <> OLD.lane))
    EXECUTE FUNCTION notify_queue();
