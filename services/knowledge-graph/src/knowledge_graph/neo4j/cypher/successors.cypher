UNWIND $among AS id
MATCH (:Entity {workspace_id: $workspace_id, id: $id})-[r:RELATED {workspace_id: $workspace_id}]->(:Entity {workspace_id: $workspace_id, id: id})
WHERE r.relation_type IN $types
RETURN DISTINCT id
ORDER BY id
