-- The workspace of the administrator, as the gateway announces it: it alone may use folders and S3 connections for which
-- the operator names no workspace. One row; the latest announcement wins.
CREATE TABLE administrator_workspace (
    workspace_id uuid PRIMARY KEY,
    told_at timestamptz NOT NULL
);
SELECT protect_queue('administrator_workspace');
