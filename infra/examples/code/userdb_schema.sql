-- UserDB, PostgreSQL 16. Owner of the schema: Identity. Operated by: Platform.
-- AuthService is the only writer; the nightly reporting job reads the replica.

CREATE TABLE operator (
    operator_id integer PRIMARY KEY,
    name        text NOT NULL UNIQUE
);

-- A traveller, an employee, a partner of ProjectBeta ('machine') or a crew device of ProjectGamma ('device').
CREATE TABLE account (
    account_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operator_id integer NOT NULL REFERENCES operator,
    kind        text NOT NULL CHECK (kind IN ('traveller', 'employee', 'machine', 'device')),
    email       text,
    language    text NOT NULL DEFAULT 'en',
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (operator_id, email)
);

-- Only the hash is stored. A token is replaced at each use; using a replaced one revokes its whole family (ADR-011).
CREATE TABLE refresh_token (
    token_hash  bytea PRIMARY KEY,
    family_id   uuid NOT NULL,
    account_id  bigint NOT NULL REFERENCES account ON DELETE CASCADE,
    operator_id integer NOT NULL REFERENCES operator,
    replaced_at timestamptz,
    expires_at  timestamptz NOT NULL DEFAULT now() + interval '14 days'
);
CREATE INDEX refresh_token_expires_at ON refresh_token (expires_at);

-- ADR-003: the database refuses rows of another operator, also when a query forgets the filter.
ALTER TABLE account ENABLE ROW LEVEL SECURITY;
ALTER TABLE refresh_token ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_operator ON account
    USING (operator_id = current_setting('app.operator_id')::integer);
CREATE POLICY own_operator ON refresh_token
    USING (operator_id = current_setting('app.operator_id')::integer);

-- Called every hour. Small batches, because deleting everything at once held locks for 39 minutes in INC-112.
CREATE FUNCTION delete_expired_refresh_tokens() RETURNS integer
LANGUAGE sql AS $$
    WITH expired AS (
        SELECT token_hash FROM refresh_token WHERE expires_at < now() LIMIT 5000 FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM refresh_token USING expired WHERE refresh_token.token_hash = expired.token_hash RETURNING 1
    )
    SELECT count(*)::integer FROM gone;
$$;
