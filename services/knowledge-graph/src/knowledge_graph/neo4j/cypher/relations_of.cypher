MATCH (:Entity {workspace_id: $workspace_id, id: $id})-[r:RELATED {workspace_id: $workspace_id}]-(:Entity {workspace_id: $workspace_id})
RETURN startNode(r).id AS source_id, endNode(r).id AS target_id, r.relation_type AS relation_type, r.weight AS weight,
       r.evidence AS evidence
ORDER BY weight DESC, source_id, target_id, relation_type
LIMIT $limit
