// A slow writer must not put an older state over a newer one: no row, nothing to do.
MERGE (d:Document {workspace_id: $workspace_id, id: $document_id})
ON CREATE SET d.sequence = $sequence
WITH d WHERE d.sequence <= $sequence
SET d.sequence = $sequence
RETURN d.sequence AS sequence
