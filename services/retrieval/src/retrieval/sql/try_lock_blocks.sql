SELECT pg_try_advisory_xact_lock(hashtextextended('retrieval/blocks/' || %(workspace_id)s::text, 0))
