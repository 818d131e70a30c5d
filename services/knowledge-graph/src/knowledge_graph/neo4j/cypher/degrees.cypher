UNWIND $ids AS id
MATCH (e:Entity {workspace_id: $workspace_id, id: id})
RETURN e.id AS id, e.outgoing AS outgoing, e.incoming AS incoming
