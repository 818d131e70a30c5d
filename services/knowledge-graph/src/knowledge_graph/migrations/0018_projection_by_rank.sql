-- Relationships in Neo4j carry what its new indexes need to read the strongest relations first: all are projected again.
INSERT INTO projection_queue (workspace_id, kind, id)
SELECT DISTINCT workspace_id, 'workspace', '' FROM graphed_document
ON CONFLICT DO NOTHING;
