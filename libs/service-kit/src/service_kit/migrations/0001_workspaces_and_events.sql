-- What every schema has: the wall between workspaces, the outbox, and which events a consumer has handled.

CREATE FUNCTION current_workspace() RETURNS uuid LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('app.workspace_id', true), '')::uuid $$;

CREATE FUNCTION is_system() RETURNS boolean LANGUAGE sql STABLE
AS $$ SELECT coalesce(current_setting('app.scope', true), '') = 'system' $$;

-- A transaction sees the rows of its workspace; without one it sees nothing.
CREATE FUNCTION protect(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
    EXECUTE format('CREATE POLICY workspace ON %s USING (workspace_id = current_workspace()) '
                   'WITH CHECK (workspace_id = current_workspace())', target);
END $$;

-- A queue that a worker of all workspaces claims from, besides.
CREATE FUNCTION protect_queue(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM protect(target);
    EXECUTE format('CREATE POLICY system ON %s USING (is_system()) WITH CHECK (is_system())', target);
END $$;

CREATE TABLE outbox (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id uuid NOT NULL,
    stream text NOT NULL,
    event jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
SELECT protect_queue('outbox');

CREATE FUNCTION notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_outbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER outbox_written AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION notify_outbox();

CREATE TABLE handled_event (
    workspace_id uuid NOT NULL,
    event_id uuid NOT NULL,
    handled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, event_id)
);
CREATE INDEX handled_event_age ON handled_event (handled_at);
SELECT protect_queue('handled_event');
