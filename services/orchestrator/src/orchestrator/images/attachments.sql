-- name: add
-- Adds images that belong to no session yet: they are deleted unless they are bound to one soon.
INSERT INTO attachment (workspace_id, id, created_by, name, media_type, file_size, width, height, content_hash)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(name)s, %(media_type)s, %(file_size)s, %(width)s, %(height)s,
        %(content_hash)s);

-- name: session
-- Returns how many images the session has, after locking it against being deleted meanwhile.
SELECT (SELECT count(*) FROM attachment AS other
        WHERE other.workspace_id = session.workspace_id AND other.session_id = session.id)
FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s AND created_by = %(user_id)s
FOR NO KEY UPDATE;

-- name: is_mine
SELECT EXISTS (
    SELECT FROM session WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s AND created_by = %(user_id)s
);

-- name: bind
UPDATE attachment SET session_id = %(session_id)s
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s) AND created_by = %(user_id)s AND session_id IS NULL
RETURNING {columns};

-- name: find
SELECT {columns} FROM attachment
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: content_hash
SELECT content_hash FROM attachment
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: page
SELECT {columns} FROM attachment
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND created_by = %(user_id)s
  AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: show
-- Notes that a message shows them; returns those that are there.
UPDATE attachment SET shown = true
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND id = ANY(%(ids)s)
  AND created_by = %(user_id)s
RETURNING id;

-- name: hide
-- Notes which images of a session no message shows any more.
UPDATE attachment SET shown = false
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND shown AND NOT EXISTS (
    SELECT FROM message
    WHERE message.workspace_id = attachment.workspace_id AND message.session_id = attachment.session_id
      AND attachment.id = ANY(message.attachment_ids));

-- name: release
-- Takes the image from its session.
UPDATE attachment SET session_id = NULL
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND id = %(id)s AND created_by = %(user_id)s
RETURNING id;

-- name: of_session
SELECT id FROM attachment WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s;

-- name: remaining
SELECT count(*) FROM attachment WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: delete
DELETE FROM attachment WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: expired
-- Takes images that no message shows from their session, a day after they came; returns them, and those that have none.
UPDATE attachment SET session_id = NULL
WHERE (workspace_id, id) IN (
    SELECT workspace_id, id FROM attachment
    WHERE session_id IS NULL AND created_at < now() - make_interval(hours => 1)
       OR NOT shown AND created_at < now() - make_interval(hours => %(hours)s)
    ORDER BY created_at
    LIMIT %(limit)s
)
RETURNING workspace_id, id;
