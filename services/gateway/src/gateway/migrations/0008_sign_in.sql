-- How users get in without a key: passwords, one-time links to set one, and web sessions. They belong to users, not to
-- a workspace, and are read before one is known: open to the system scope alone.
ALTER TABLE app_user ADD COLUMN IF NOT EXISTS email text;
ALTER TABLE app_user ADD COLUMN IF NOT EXISTS disabled_at timestamptz;
CREATE UNIQUE INDEX IF NOT EXISTS app_user_email ON app_user (lower(email));
CREATE INDEX app_user_name ON app_user (name);

CREATE TABLE user_password (
    user_id uuid PRIMARY KEY REFERENCES app_user ON DELETE CASCADE,
    hash text NOT NULL,  -- argon2id, in the PHC string format
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE user_password ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON user_password USING (is_system()) WITH CHECK (is_system());

-- One for each user; a new one replaces the last.
CREATE TABLE password_link (
    user_id uuid PRIMARY KEY REFERENCES app_user ON DELETE CASCADE,
    secret_sha256 bytea NOT NULL UNIQUE,
    created_by uuid NOT NULL REFERENCES app_user ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
ALTER TABLE password_link ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON password_link USING (is_system()) WITH CHECK (is_system());

-- `expires_at` is the absolute end; a session ends earlier when it has not been used for a while. `method`: how the
-- user signed in.
CREATE TABLE web_session (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES app_user ON DELETE CASCADE,
    secret_sha256 bytea NOT NULL UNIQUE,
    method text NOT NULL CHECK (method IN ('password', 'openid')),
    address text NOT NULL,
    user_agent text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX web_session_of_user ON web_session (user_id, created_at, id);
CREATE INDEX web_session_end ON web_session (expires_at);
ALTER TABLE web_session ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON web_session USING (is_system()) WITH CHECK (is_system());
