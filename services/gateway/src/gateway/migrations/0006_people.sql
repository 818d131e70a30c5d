-- A disabled user's keys do nothing; enabling the user again brings them back.
ALTER TABLE app_user ADD COLUMN disabled_at timestamptz;

-- `workspaces`: those that the key may search besides its own, as far as its user is a member of them.
ALTER TABLE api_key ADD COLUMN expires_at timestamptz;
ALTER TABLE api_key ADD COLUMN workspaces uuid[] NOT NULL DEFAULT '{}';
CREATE INDEX api_key_of_user ON api_key (user_id);

-- Who deleted a workspace stays known after the user has been deleted.
ALTER TABLE workspace_deletion DROP CONSTRAINT workspace_deletion_requested_by_fkey;

-- A one-time way into a workspace. Of the token only the hash is stored. Under protect_queue, because whoever accepts an
-- invitation does not name its workspace: the token does. `accepted_by` outlives the user.
CREATE TABLE invitation (
    workspace_id uuid NOT NULL REFERENCES workspace,
    id uuid NOT NULL,
    role role NOT NULL,
    name text,
    note text,
    token_sha256 bytea NOT NULL,
    created_by uuid NOT NULL REFERENCES app_user,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    accepted_by uuid,
    revoked_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX invitation_acceptance ON invitation (id);
CREATE INDEX invitation_listing ON invitation (workspace_id, created_at, id);
CREATE INDEX invitation_of_user ON invitation (created_by);
SELECT protect_queue('invitation');
