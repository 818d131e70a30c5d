INSERT INTO space_weights (workspace_id, model, dims, weights, scaled)
VALUES (%(workspace_id)s, %(model)s, %(dims)s, %(weights)s, %(scaled)s)
ON CONFLICT (workspace_id, model, dims) DO UPDATE SET
    weights = excluded.weights, scaled = excluded.scaled, updated_at = now()
