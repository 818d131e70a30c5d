RETURN COUNT { MATCH (:Entity {workspace_id: $workspace_id}) } AS entities,
       COUNT { MATCH (:Entity {workspace_id: $workspace_id})-[r:RELATED {workspace_id: $workspace_id}]->() } AS relations,
       COUNT { MATCH (:Document {workspace_id: $workspace_id}) } AS documents
