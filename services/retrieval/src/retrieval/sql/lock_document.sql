-- One writer per document at a time, also when the document has no row yet.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || %(document_id)s::text, 0))
