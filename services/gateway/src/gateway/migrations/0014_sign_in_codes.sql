-- A code signs in once, as the key that it was made with. Read before anybody is known: open to the system scope alone.
CREATE TABLE sign_in_code (
    secret_sha256 bytea PRIMARY KEY,
    key_id uuid NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_code_end ON sign_in_code (expires_at);
ALTER TABLE sign_in_code ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON sign_in_code USING (is_system()) WITH CHECK (is_system());
