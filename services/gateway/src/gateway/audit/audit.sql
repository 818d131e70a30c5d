-- name: insert
INSERT INTO audit_entry
    (id, workspace_id, action, result, status, user_id, credential_id, address, target_id, detail, trace_id)
VALUES
    (%(id)s, %(workspace_id)s, %(action)s, %(result)s, %(status)s, %(user_id)s, %(credential_id)s, %(address)s,
     %(target_id)s, %(detail)s, %(trace_id)s);

-- name: list
-- The newest first. `action` is an action or the beginning of one up to a full stop.
SELECT {columns} FROM audit_entry
WHERE (%(workspace_id)s::uuid IS NULL OR workspace_id = %(workspace_id)s)
  AND (%(action)s::text IS NULL OR action = %(action)s OR starts_with(action, %(action)s || '.'))
  AND (%(result)s::text IS NULL OR result = %(result)s)
  AND (%(user_id)s::uuid IS NULL OR user_id = %(user_id)s)
  AND (%(target_id)s::text IS NULL OR target_id = %(target_id)s)
  AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR at < %(until)s)
  AND (%(at)s::timestamptz IS NULL OR (at, id) < (%(at)s, %(before)s::uuid))
ORDER BY at DESC, id DESC
LIMIT %(limit)s;

-- name: delete_old
DELETE FROM audit_entry WHERE id IN (
    SELECT id FROM audit_entry WHERE at < clock_timestamp() - make_interval(days => %(days)s) ORDER BY at LIMIT %(limit)s
);
