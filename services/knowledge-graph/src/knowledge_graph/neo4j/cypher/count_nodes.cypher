MATCH (n:Projection|Document|Entity|Chunk {workspace_id: $workspace_id})
RETURN count(*) AS nodes
