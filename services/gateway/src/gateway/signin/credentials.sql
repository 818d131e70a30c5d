-- name: find
-- Returns whom a login means: an e-mail address, or else a name; of users with one name the oldest.
SELECT {columns}
FROM app_user LEFT JOIN user_password AS password ON password.user_id = app_user.id
WHERE lower(app_user.email) = lower(%(login)s) OR app_user.name = %(login)s
ORDER BY coalesce(lower(app_user.email) = lower(%(login)s), false) DESC, app_user.created_at, app_user.id
LIMIT 1;

-- name: of_user
SELECT {columns}
FROM app_user LEFT JOIN user_password AS password ON password.user_id = app_user.id
WHERE app_user.id = %(user_id)s;

-- name: put
INSERT INTO user_password (user_id, hash) VALUES (%(user_id)s, %(hash)s)
ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed_at = clock_timestamp();

-- name: rehash
-- Unless the password was changed meanwhile.
UPDATE user_password SET hash = %(hash)s WHERE user_id = %(user_id)s AND hash = %(old)s;

-- name: put_link
INSERT INTO password_link (user_id, secret_sha256, created_by, expires_at)
VALUES (%(user_id)s, %(secret_sha256)s, %(created_by)s, clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (user_id) DO UPDATE
SET secret_sha256 = excluded.secret_sha256, created_by = excluded.created_by, expires_at = excluded.expires_at
RETURNING expires_at;

-- name: find_link
-- Returns the user of a link that is still good.
SELECT {columns}
FROM password_link AS link JOIN app_user ON app_user.id = link.user_id
LEFT JOIN user_password AS password ON password.user_id = app_user.id
WHERE link.secret_sha256 = %(secret_sha256)s AND link.expires_at > clock_timestamp()
  AND app_user.disabled_at IS NULL
FOR UPDATE OF link;

-- name: delete_link
DELETE FROM password_link WHERE user_id = %(user_id)s;
