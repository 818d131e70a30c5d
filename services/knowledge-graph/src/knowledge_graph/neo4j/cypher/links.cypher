UNWIND $ids AS origin
MATCH (:Entity {workspace_id: $workspace_id, id: origin})-[r:RELATED {workspace_id: $workspace_id}]-(o:Entity {workspace_id: $workspace_id})
WHERE $types IS NULL OR r.relation_type IN $types
RETURN DISTINCT origin, o.id AS other
