MERGE (p:Projection {workspace_id: $workspace_id})
SET p.turn = $turn, p.drawing = $drawing
