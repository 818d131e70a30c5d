-- A generated title is only for a session that has none: a rename made meanwhile stays.
UPDATE session
SET updated_at = now(),
    version = version + CASE WHEN title IS NULL AND %(title)s::text IS NOT NULL THEN 1 ELSE 0 END,
    title = coalesce(title, %(title)s)
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s
