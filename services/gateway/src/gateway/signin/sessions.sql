-- name: insert
INSERT INTO web_session (id, user_id, key_id, secret_sha256, method, address, user_agent, expires_at)
VALUES (%(id)s, %(user_id)s, %(key_id)s, %(secret_sha256)s, %(method)s, %(address)s, %(user_agent)s,
        clock_timestamp() + make_interval(secs => %(seconds)s))
RETURNING {columns};

-- name: authenticate
-- The one look-up that comes before the user is known.
SELECT session.id, session.key_id, session.last_used_at < clock_timestamp() - interval '1 minute' AS is_stale,
       app_user.id AS user_id, app_user.name AS user_name, app_user.email, app_user.is_admin, app_user.created_at AS user_created_at
FROM web_session AS session JOIN app_user ON app_user.id = session.user_id
WHERE session.secret_sha256 = %(secret_sha256)s AND session.expires_at > clock_timestamp()
  AND session.last_used_at > clock_timestamp() - make_interval(secs => %(idle)s)
  AND app_user.disabled_at IS NULL;

-- name: touch
UPDATE web_session SET last_used_at = clock_timestamp() WHERE id = %(id)s;

-- name: find
SELECT {columns} FROM web_session WHERE id = %(id)s;

-- name: of_user
SELECT {columns} FROM web_session
WHERE user_id = %(user_id)s AND expires_at > clock_timestamp()
  AND last_used_at > clock_timestamp() - make_interval(secs => %(idle)s)
  AND (%(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: delete
DELETE FROM web_session WHERE user_id = %(user_id)s AND id = %(id)s;

-- name: delete_presented
DELETE FROM web_session WHERE secret_sha256 = %(secret_sha256)s;

-- name: delete_of_user
-- All of a user's, but for the one that stays.
DELETE FROM web_session WHERE user_id = %(user_id)s AND id IS DISTINCT FROM %(but)s::uuid;

-- name: delete_ended
DELETE FROM web_session
WHERE expires_at < clock_timestamp() OR last_used_at < clock_timestamp() - make_interval(secs => %(idle)s);

-- name: insert_code
-- Those that ended go.
WITH ended AS (DELETE FROM sign_in_code WHERE expires_at < clock_timestamp())
INSERT INTO sign_in_code (secret_sha256, key_id, expires_at)
VALUES (%(secret_sha256)s, %(key_id)s, clock_timestamp() + make_interval(secs => %(seconds)s))
RETURNING expires_at;

-- name: take_code
-- Returns the key of a code that is still good; it is good once.
WITH taken AS (DELETE FROM sign_in_code WHERE secret_sha256 = %(secret_sha256)s RETURNING key_id, expires_at)
SELECT key_id FROM taken WHERE expires_at > clock_timestamp();

-- name: memberships
SELECT workspace.id, workspace.name, workspace.created_at, workspace.key_requests_per_minute, membership.role
FROM membership JOIN workspace ON workspace.id = membership.workspace_id
WHERE membership.user_id = %(user_id)s AND (%(only)s::uuid IS NULL OR workspace.id = %(only)s)
  AND (%(at)s::timestamptz IS NULL OR (workspace.created_at, workspace.id) > (%(at)s, %(after)s::uuid))
ORDER BY workspace.created_at, workspace.id
LIMIT %(limit)s;
