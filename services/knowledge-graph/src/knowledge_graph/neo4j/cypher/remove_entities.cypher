UNWIND $ids AS id
MATCH (e:Entity {workspace_id: $workspace_id, id: id})
DETACH DELETE e
