MATCH (s:Entity {workspace_id: $workspace_id}) WHERE s.id IN $ids
MATCH (s)-[r:RELATED {workspace_id: $workspace_id}]->(t:Entity {workspace_id: $workspace_id})
WHERE t.id IN $ids AND ($types IS NULL OR r.relation_type IN $types)
RETURN s.id AS source_id, t.id AS target_id, r.relation_type AS relation_type, r.weight AS weight, r.evidence AS evidence
ORDER BY weight DESC, source_id, target_id, relation_type
LIMIT $limit
