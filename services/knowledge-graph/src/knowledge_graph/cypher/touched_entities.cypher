MATCH (e:Entity {workspace_id: $workspace_id})-[:MENTIONED_IN {workspace_id: $workspace_id}]->(:Chunk {workspace_id: $workspace_id, document_id: $document_id})
RETURN DISTINCT e.id AS id
