-- name: insert
INSERT INTO app_user (id, name, email, is_admin) VALUES (%(id)s, %(name)s, %(email)s, %(is_admin)s)
ON CONFLICT (id) DO NOTHING
RETURNING {columns};

-- name: find
SELECT {columns} FROM app_user WHERE id = %(id)s;

-- name: list
SELECT {columns} FROM app_user
WHERE %(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid)
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: change
-- What is null stays. A user who is disabled already keeps the time. The web sessions of one who is disabled end for good.
WITH ended AS (DELETE FROM web_session WHERE user_id = %(id)s AND %(disabled)s::boolean)
UPDATE app_user
SET disabled_at = CASE WHEN %(disabled)s::boolean IS NULL THEN disabled_at
                       WHEN %(disabled)s THEN coalesce(disabled_at, clock_timestamp()) END,
    is_admin = coalesce(%(is_admin)s::boolean, is_admin),
    email = coalesce(%(email)s, email)
WHERE id = %(id)s
RETURNING {columns};

-- name: lock_workspaces
-- Until the transaction ends, nobody else changes who is in the user's workspaces.
SELECT id FROM workspace
WHERE id IN (SELECT workspace_id FROM membership WHERE user_id = %(id)s)
ORDER BY id
FOR UPDATE;

-- name: sole_owner_of
SELECT workspace_id FROM membership AS own
WHERE user_id = %(id)s AND role = 'owner' AND NOT EXISTS (
    SELECT FROM membership WHERE workspace_id = own.workspace_id AND role = 'owner' AND user_id <> own.user_id
)
ORDER BY workspace_id;

-- name: delete_contents
WITH keys AS (DELETE FROM api_key WHERE user_id = %(id)s),
members AS (DELETE FROM membership WHERE user_id = %(id)s)
DELETE FROM invitation WHERE created_by = %(id)s;

-- name: delete
DELETE FROM app_user WHERE id = %(id)s;
