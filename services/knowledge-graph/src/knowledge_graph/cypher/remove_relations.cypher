UNWIND $ids AS id
MATCH (:Entity {workspace_id: $workspace_id, id: id})-[r:RELATED {workspace_id: $workspace_id}]->(o:Entity {workspace_id: $workspace_id})
WHERE o.id IN $ids
DELETE r
