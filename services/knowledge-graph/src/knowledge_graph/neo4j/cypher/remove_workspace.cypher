MATCH (n:Projection|Document|Entity|Chunk {workspace_id: $workspace_id})
WITH n LIMIT $batch
DETACH DELETE n
RETURN count(*) AS removed
