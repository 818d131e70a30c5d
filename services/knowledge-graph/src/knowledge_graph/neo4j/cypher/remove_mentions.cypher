UNWIND $mentions AS one
MATCH (c:Chunk {workspace_id: $workspace_id, document_id: one[0]})<-[m:MENTIONED_IN {workspace_id: $workspace_id}]-(e:Entity {workspace_id: $workspace_id, id: one[1]})
DELETE m
