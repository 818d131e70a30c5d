-- Serialises, for one content, its upload with the erasure of its last document.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || %(content_hash)s, 0))
