-- name: lock
-- Locks the settings of the workspace against other changes.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || '/search_settings', 0));

-- name: find
-- Returns the settings, and the weights of the active space: always one row, even for a workspace without settings.
SELECT mode, k1, b, rrf_k, legs, diversity, coalesce(version, 0) AS version, embedding_space.id AS space_id,
       embedding_space.model, embedding_space.dims, weights, scaled
FROM (VALUES (%(workspace_id)s::uuid)) AS asked (workspace_id)
LEFT JOIN search_settings ON search_settings.workspace_id = asked.workspace_id
LEFT JOIN embedding_space ON embedding_space.workspace_id = asked.workspace_id AND status = 'active'
LEFT JOIN space_weights ON space_weights.workspace_id = asked.workspace_id
                       AND space_weights.model = embedding_space.model AND space_weights.dims = embedding_space.dims;

-- name: put
-- Replaces the settings and raises their version.
INSERT INTO search_settings (workspace_id, mode, k1, b, rrf_k, legs, diversity)
VALUES (%(workspace_id)s, %(mode)s, %(k1)s, %(b)s, %(rrf_k)s, %(legs)s, %(diversity)s)
ON CONFLICT (workspace_id) DO UPDATE SET
    mode = excluded.mode, k1 = excluded.k1, b = excluded.b, rrf_k = excluded.rrf_k, legs = excluded.legs,
    diversity = excluded.diversity,
    version = search_settings.version + 1, updated_at = now();

-- name: put_weights
-- Replaces the weights of an embedding space.
INSERT INTO space_weights (workspace_id, model, dims, weights, scaled)
VALUES (%(workspace_id)s, %(model)s, %(dims)s, %(weights)s, %(scaled)s)
ON CONFLICT (workspace_id, model, dims) DO UPDATE SET
    weights = excluded.weights, scaled = excluded.scaled, updated_at = now();

-- name: remove_weights
-- Gives an embedding space its default weights.
DELETE FROM space_weights WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s;
