SELECT mode, k1, b, rrf_k, legs, diversity, coalesce(version, 0) AS version, embedding_space.id AS space_id,
       embedding_space.model, embedding_space.dims, weights, scaled
FROM (VALUES (%(workspace_id)s::uuid)) AS asked (workspace_id)
LEFT JOIN search_settings ON search_settings.workspace_id = asked.workspace_id
LEFT JOIN embedding_space ON embedding_space.workspace_id = asked.workspace_id AND status = 'active'
LEFT JOIN space_weights ON space_weights.workspace_id = asked.workspace_id
                       AND space_weights.model = embedding_space.model AND space_weights.dims = embedding_space.dims
