RETURN COUNT { MATCH (:Entity {workspace_id: $workspace_id}) } AS entities,
       COUNT { MATCH (:Entity {workspace_id: $workspace_id})-[r:RELATED {workspace_id: $workspace_id}]->() } AS relations,
       COUNT { MATCH (c:Chunk {workspace_id: $workspace_id}) RETURN DISTINCT c.document_id } AS documents
