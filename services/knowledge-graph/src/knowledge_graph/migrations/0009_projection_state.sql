-- How often something of a workspace was drawn in Neo4j: who reads there twice the same number, before and after his
-- questions, with nothing queued, has read one picture.
CREATE TABLE projection_state (
    workspace_id uuid PRIMARY KEY,
    drawn bigint NOT NULL
);
SELECT protect('projection_state');
ALTER TABLE projection_state ALTER COLUMN workspace_id SET STATISTICS 0;
