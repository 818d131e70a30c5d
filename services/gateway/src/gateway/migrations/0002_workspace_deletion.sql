-- What a deleted workspace leaves behind: its id, who asked, and what each service confirmed. Under protect_queue, as
-- the announcements are sent again for all workspaces.
-- `next_announcement` is null when nothing is left to be asked.
CREATE TABLE workspace_deletion (
    workspace_id uuid PRIMARY KEY,
    requested_by uuid NOT NULL REFERENCES app_user,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    completed_at timestamptz,
    announcements integer NOT NULL DEFAULT 1,
    next_announcement timestamptz
);
CREATE INDEX workspace_deletion_due ON workspace_deletion (next_announcement) WHERE next_announcement IS NOT NULL;
SELECT protect_queue('workspace_deletion');

-- A row per service from the beginning; `confirmed_at` is null until it has answered.
CREATE TABLE workspace_receipt (
    workspace_id uuid NOT NULL REFERENCES workspace_deletion,
    service text NOT NULL,
    removed jsonb NOT NULL DEFAULT '{}',
    remaining jsonb NOT NULL DEFAULT '{}',
    confirmed_at timestamptz,
    PRIMARY KEY (workspace_id, service)
);
SELECT protect_queue('workspace_receipt');

-- With its workspace nothing can be written to it any more, also not by a request that was admitted before.
DELETE FROM idempotent_create WHERE workspace_id NOT IN (SELECT id FROM workspace);
ALTER TABLE idempotent_create ADD FOREIGN KEY (workspace_id) REFERENCES workspace;

CREATE FUNCTION notify_workspace_receipt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_workspace_receipt', NEW.workspace_id::text);
    RETURN NULL;
END $$;
CREATE TRIGGER workspace_receipt_written AFTER UPDATE ON workspace_receipt
FOR EACH ROW EXECUTE FUNCTION notify_workspace_receipt();
