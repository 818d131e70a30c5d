UNWIND $documents AS document_id
MATCH (d:Document {workspace_id: $workspace_id, id: document_id})
DELETE d
