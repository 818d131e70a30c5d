INSERT INTO search_settings (workspace_id, mode, k1, b, rrf_k, legs, diversity)
VALUES (%(workspace_id)s, %(mode)s, %(k1)s, %(b)s, %(rrf_k)s, %(legs)s, %(diversity)s)
ON CONFLICT (workspace_id) DO UPDATE SET
    mode = excluded.mode, k1 = excluded.k1, b = excluded.b, rrf_k = excluded.rrf_k, legs = excluded.legs,
    diversity = excluded.diversity,
    version = search_settings.version + 1, updated_at = now()
