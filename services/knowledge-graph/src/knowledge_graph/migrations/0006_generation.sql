-- How often a workspace's graph has changed: answers that were made from it can be kept under its number.
CREATE TABLE graph_generation (
    workspace_id uuid PRIMARY KEY,
    generation bigint NOT NULL
);
SELECT protect('graph_generation');
ALTER TABLE graph_generation ALTER COLUMN workspace_id SET STATISTICS 0;
