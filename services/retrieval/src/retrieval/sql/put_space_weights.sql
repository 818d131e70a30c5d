INSERT INTO space_weights (workspace_id, model, dims, weights, scaled, fitted_on)
VALUES (%(workspace_id)s, %(model)s, %(dims)s, %(weights)s, %(scaled)s, %(fitted_on)s)
ON CONFLICT (workspace_id, model, dims) DO UPDATE SET
    weights = excluded.weights, scaled = excluded.scaled, fitted_on = excluded.fitted_on, updated_at = now()
