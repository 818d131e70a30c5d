-- Prompts under a name: of a user, or shared with all members of the workspace.
CREATE TABLE quick_action (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    created_by uuid NOT NULL,
    shared boolean NOT NULL,
    name text NOT NULL,
    prompt text NOT NULL,
    target text NOT NULL CHECK (target IN ('artifact', 'message')),
    use_history boolean NOT NULL,
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX quick_action_listing ON quick_action (workspace_id, created_at, id);
SELECT protect('quick_action');
