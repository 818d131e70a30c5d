-- Sets of triples count as documents no more: where there are any, Neo4j is drawn anew.
INSERT INTO projection_queue (workspace_id, kind, id)
SELECT DISTINCT workspace_id, 'workspace', '' FROM triple_import
ON CONFLICT DO NOTHING;
