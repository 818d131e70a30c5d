-- Runs whose end memory has applied: their turn is stored, or there is none. Reads of the world wait for them.
CREATE TABLE settled_run (
    workspace_id uuid NOT NULL,
    run_id uuid NOT NULL,
    user_id uuid NOT NULL,
    settled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, run_id)
);
SELECT protect('settled_run');
SELECT protect_owner('settled_run', 'user_id');

CREATE FUNCTION notify_settled_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_settled_run', NEW.run_id::text);
    RETURN NULL;
END $$;
CREATE TRIGGER settled_run_came AFTER INSERT OR UPDATE ON settled_run FOR EACH ROW EXECUTE FUNCTION notify_settled_run();
