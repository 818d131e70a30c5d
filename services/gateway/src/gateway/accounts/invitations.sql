-- name: insert
INSERT INTO invitation (workspace_id, id, role, name, note, token_sha256, created_by, expires_at)
VALUES (%(workspace_id)s, %(id)s, %(role)s, %(name)s, %(note)s, %(token_sha256)s, %(created_by)s, %(expires_at)s)
ON CONFLICT DO NOTHING
RETURNING {columns};

-- name: find
SELECT {columns} FROM invitation WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: list
SELECT {columns} FROM invitation
WHERE workspace_id = %(workspace_id)s
  AND (%(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: revoke
UPDATE invitation SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND accepted_at IS NULL;

-- name: find_presented
-- The look-up that comes before the workspace is known.
SELECT workspace_id, token_sha256 FROM invitation WHERE id = %(id)s;

-- name: lock
-- Until the transaction ends, nobody else accepts it.
SELECT id FROM invitation WHERE workspace_id = %(workspace_id)s AND id = %(id)s FOR UPDATE;

-- name: accept
UPDATE invitation SET accepted_at = clock_timestamp(), accepted_by = %(accepted_by)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s;
