-- What users and workspaces have set: a value, or sealed bytes, which only the holder of the key with this id opens.
CREATE TABLE setting (
    workspace_id uuid NOT NULL,
    -- Null for what the workspace sets.
    user_id uuid,
    key text NOT NULL,
    value jsonb,
    sealed bytea,
    key_id text,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_by uuid NOT NULL,
    CHECK (value IS NULL OR sealed IS NULL),
    CHECK ((sealed IS NULL) = (key_id IS NULL))
);
CREATE UNIQUE INDEX setting_of_user ON setting (workspace_id, user_id, key) NULLS NOT DISTINCT;
SELECT protect_queue('setting');

-- How answers are made that are asked with a model of this name.
CREATE TABLE preset (
    workspace_id uuid NOT NULL,
    -- Null for those of the workspace.
    user_id uuid,
    name text NOT NULL,
    content jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_by uuid NOT NULL
);
CREATE UNIQUE INDEX preset_of_user ON preset (workspace_id, user_id, name) NULLS NOT DISTINCT;
SELECT protect('preset');
