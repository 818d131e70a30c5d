UNWIND $documents AS document_id
MERGE (:Document {workspace_id: $workspace_id, id: document_id})
