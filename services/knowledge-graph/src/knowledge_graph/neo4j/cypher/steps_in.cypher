UNWIND $ids AS via
MATCH (:Entity {workspace_id: $workspace_id, id: via})<-[r:RELATED {workspace_id: $workspace_id}]-(o:Entity {workspace_id: $workspace_id})
WHERE r.relation_type IN $types AND NOT o.id IN $seen
RETURN o.id AS id, o.name AS name, min(via) AS via
ORDER BY id
LIMIT $limit
