SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || '/search_settings', 0))
