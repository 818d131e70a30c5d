// A slow writer, whose turn is over, must not put an older state over a newer one: no row. Writers take turns.
MERGE (p:Projection {workspace_id: $workspace_id})
ON CREATE SET p.turn = $turn
WITH p WHERE p.turn <= $turn
SET p.turn = $turn
RETURN p.turn AS turn
