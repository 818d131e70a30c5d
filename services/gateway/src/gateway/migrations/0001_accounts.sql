-- Users and workspaces belong to the deployment, not to a workspace: a user may be in many, and a workspace is the wall
-- itself. Row-level security by workspace has nothing to compare them with, so they are unprotected; only the gateway's
-- role reaches this schema.
CREATE TABLE app_user (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    is_admin boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX app_user_listing ON app_user (created_at, id);

CREATE TABLE workspace (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX workspace_listing ON workspace (created_at, id);

CREATE TYPE role AS ENUM ('viewer', 'editor', 'owner');  -- in rank order: least(a, b) is the lower role

-- Members and keys are the workspace's own. Both are under protect_queue, because authentication reads them before it
-- knows the workspace: the key tells it.
CREATE TABLE membership (
    workspace_id uuid NOT NULL REFERENCES workspace,
    user_id uuid NOT NULL REFERENCES app_user,
    role role NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX membership_listing ON membership (workspace_id, created_at, user_id);
SELECT protect_queue('membership');

CREATE TABLE api_key (
    workspace_id uuid NOT NULL REFERENCES workspace,
    id uuid NOT NULL,
    user_id uuid NOT NULL REFERENCES app_user,
    name text NOT NULL,
    role role NOT NULL,
    secret_sha256 bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX api_key_authentication ON api_key (id);  -- the one look-up that comes before the workspace is known
CREATE INDEX api_key_listing ON api_key (workspace_id, created_at, id);
SELECT protect_queue('api_key');

-- What a create answered, by the caller's Idempotency-Key. Never holds a secret: a key's is derived again.
CREATE TABLE idempotent_create (
    workspace_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    request_sha256 bytea NOT NULL,
    answer jsonb,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, api_key_id, idempotency_key)
);
CREATE INDEX idempotent_create_age ON idempotent_create (created_at);
SELECT protect_queue('idempotent_create');
