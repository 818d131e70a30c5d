UNWIND $pairs AS pair
MATCH (:Entity {workspace_id: $workspace_id, id: pair[0]})-[r:RELATED {workspace_id: $workspace_id}]->(:Entity {workspace_id: $workspace_id, id: pair[1]})
DELETE r
