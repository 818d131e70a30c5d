UNWIND $rows AS row
MERGE (e:Entity {workspace_id: $workspace_id, id: row.id})
SET e += row
