// Taken over by another writer: no row.
MATCH (p:Projection {workspace_id: $workspace_id})
WHERE p.drawing = $drawing
SET p.drawing = $drawing
RETURN p.turn AS turn
