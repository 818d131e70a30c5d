-- name: insert
-- Inserts nothing if the Idempotency-Key has made this share before.
INSERT INTO session_share (
    workspace_id, id, session_id, message_id, created_by, audience, title, messages, secret_sha256, expires_at
)
VALUES (
    %(workspace_id)s, %(id)s, %(session_id)s, %(message_id)s, %(user_id)s, %(audience)s, %(title)s, %(messages)s,
    %(secret_sha256)s, %(expires_at)s
)
ON CONFLICT (workspace_id, id) DO NOTHING
RETURNING {columns};

-- name: delete_expired
DELETE FROM session_share WHERE workspace_id = %(workspace_id)s AND expires_at <= now();

-- name: page
-- Returns those that can be read, newest first.
SELECT {columns} FROM session_share
WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND expires_at > now()
  AND (%(session_id)s::uuid IS NULL OR session_id = %(session_id)s)
  AND (%(before_at)s::timestamptz IS NULL OR (created_at, id) < (%(before_at)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: delete
DELETE FROM session_share WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: open
-- Returns a share that can be read: by link only as long as owners allow that.
SELECT created_by, secret_sha256, title, audience, created_at, expires_at, messages FROM session_share AS share
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND expires_at > now()
  AND (audience = 'members' OR EXISTS (
      SELECT FROM sharing_settings AS settings WHERE settings.workspace_id = share.workspace_id AND settings.links
  ));

-- name: settings
SELECT links, version FROM sharing_settings WHERE workspace_id = %(workspace_id)s;

-- name: lock_settings
-- Keeps others from changing the settings of the workspace.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || '/sharing_settings', 0));

-- name: put_settings
INSERT INTO sharing_settings AS known (workspace_id, links) VALUES (%(workspace_id)s, %(links)s)
ON CONFLICT (workspace_id) DO UPDATE SET links = excluded.links, version = known.version + 1
RETURNING links, version;
