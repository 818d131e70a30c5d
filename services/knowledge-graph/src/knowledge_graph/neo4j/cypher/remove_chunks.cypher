UNWIND $documents AS document_id
MATCH (c:Chunk {workspace_id: $workspace_id, document_id: document_id})
DETACH DELETE c
