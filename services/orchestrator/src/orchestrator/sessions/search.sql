-- name: search
SELECT found.id, session.id AS session_id, session.title, session.archived, found.is_title, message.role,
       found.written_at, coalesce(message.content, session.title) AS content
FROM texts_with(%(query)s, %(user_id)s, %(before_at)s::timestamptz, %(before_id)s::uuid, %(limit)s) AS found
JOIN session ON session.workspace_id = %(workspace_id)s AND session.id = found.session_id
LEFT JOIN message ON message.workspace_id = %(workspace_id)s AND message.id = found.id
ORDER BY found.written_at DESC, found.id DESC;
