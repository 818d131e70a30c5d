-- Who did what, append-only: no row changes, and none goes before the shortest retention, whoever asks.
-- What concerns the deployment (users, sign-ins, refused credentials) has the nil UUID as its workspace. The rows hold ids and
-- no content, and outlive their workspace: who deleted it must still be told.
CREATE TABLE audit_entry (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    workspace_id uuid NOT NULL,
    action text NOT NULL,
    result text NOT NULL,
    status integer NOT NULL,
    user_id uuid,
    credential_id uuid,
    address text,
    target_id text,
    detail jsonb NOT NULL DEFAULT '{}',
    trace_id text
);
CREATE INDEX audit_entry_of_workspace ON audit_entry (workspace_id, at DESC, id DESC);
CREATE INDEX audit_entry_listing ON audit_entry (at DESC, id DESC);

SELECT protect_queue('audit_entry');

CREATE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '30 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER keep_audit_entry BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER keep_audit BEFORE TRUNCATE ON audit_entry FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();
