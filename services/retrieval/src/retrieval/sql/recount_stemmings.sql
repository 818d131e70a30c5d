-- Exact after the statistics, whose row one writer at a time has: what others add comes after.
UPDATE workspace_stemming AS known SET documents = (
    SELECT count(*) FROM indexed_document AS indexed
    WHERE indexed.workspace_id = %(workspace_id)s AND indexed.stemming = known.stemming)
WHERE workspace_id = %(workspace_id)s
