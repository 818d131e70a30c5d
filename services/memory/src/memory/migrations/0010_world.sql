-- The world state of workspaces and sessions, and a second wall: what has an owner is seen by no other user.

-- The user for whom a transaction is; null for what the service does on its own behalf.
CREATE FUNCTION current_owner() RETURNS uuid LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $$;

-- A transaction of a user sees the rows of this user, and those that belong to nobody.
CREATE FUNCTION protect_owner(target regclass, owner_column name) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own text := format('current_owner() IS NULL OR %I IS NULL OR %I = current_owner()', owner_column, owner_column);
BEGIN
    EXECUTE format('CREATE POLICY owner ON %s AS RESTRICTIVE USING (%s) WITH CHECK (%s)', target, own, own);
END $$;
SELECT protect_owner('memory', 'created_by');

-- A session's world has the session's id and its user, the workspace's has the workspace's id and no owner.
CREATE TABLE world (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    owner_id uuid,
    version integer NOT NULL DEFAULT 0,
    document jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, id)
);
SELECT protect('world');
SELECT protect_owner('world', 'owner_id');

-- One row for each version. `previous` is what stood at `touched` before, in a list that is empty where nothing did.
CREATE TABLE world_event (
    workspace_id uuid NOT NULL,
    world_id uuid NOT NULL,
    version integer NOT NULL,
    owner_id uuid,
    kind text NOT NULL CHECK (kind IN ('created', 'operation', 'reverted', 'repaired')),
    op text,
    path text,
    value jsonb,
    touched text[] NOT NULL DEFAULT '{}',
    previous jsonb NOT NULL DEFAULT '[]',
    repairs text[] NOT NULL DEFAULT '{}',
    created_by uuid,
    run_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, world_id, version),
    FOREIGN KEY (workspace_id, world_id) REFERENCES world ON DELETE CASCADE
);
SELECT protect('world_event');
SELECT protect_owner('world_event', 'owner_id');

-- Changes that a caller named by a key, so that one that is sent twice is made once.
CREATE TABLE world_change (
    workspace_id uuid NOT NULL,
    world_id uuid NOT NULL,
    id uuid NOT NULL,
    owner_id uuid,
    digest text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, world_id, id),
    FOREIGN KEY (workspace_id, world_id) REFERENCES world ON DELETE CASCADE
);
SELECT protect('world_change');
SELECT protect_owner('world_change', 'owner_id');
