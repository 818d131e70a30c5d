UNWIND $ids AS id
MATCH (e:Entity {workspace_id: $workspace_id, id: id})
RETURN e.id AS id, e.name_key AS name_key, e.name AS name, e.entity_type AS entity_type, e.mentions AS mentions,
       e.documents AS documents, e.aliases AS aliases
ORDER BY id
