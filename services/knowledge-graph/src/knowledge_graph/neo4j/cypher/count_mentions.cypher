MATCH (:Entity {workspace_id: $workspace_id})-[m:MENTIONED_IN {workspace_id: $workspace_id}]->(:Chunk {workspace_id: $workspace_id, document_id: $document_id})
RETURN count(m) AS mentions
