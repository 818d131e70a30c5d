MATCH (n:Projection|Document|Entity|Chunk)
RETURN DISTINCT n.workspace_id AS workspace_id
