-- name: find_message
-- Returns a message of one of the user's sessions.
SELECT message.role, message.status FROM message
JOIN session ON session.workspace_id = message.workspace_id AND session.id = message.session_id
WHERE message.workspace_id = %(workspace_id)s AND message.id = %(id)s AND session.created_by = %(user_id)s;

-- name: put
INSERT INTO feedback (workspace_id, message_id, created_by, rating, reasons, comment, share_content)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(rating)s, %(reasons)s, %(comment)s, %(share_content)s)
ON CONFLICT (workspace_id, message_id) DO UPDATE
    SET rating = excluded.rating, reasons = excluded.reasons, comment = excluded.comment,
        share_content = excluded.share_content, updated_at = excluded.updated_at
RETURNING {columns};

-- name: delete
DELETE FROM feedback WHERE workspace_id = %(workspace_id)s AND message_id = %(id)s AND created_by = %(user_id)s;

-- name: page
-- Returns the newest first; question and answer only where their user shares them.
SELECT feedback.message_id, feedback.created_by AS user_id, answer.mode, feedback.rating, feedback.reasons,
       feedback.comment, feedback.share_content, feedback.created_at, feedback.updated_at,
       CASE WHEN feedback.share_content THEN question.content END AS question,
       CASE WHEN feedback.share_content THEN answer.content END AS answer
FROM feedback
JOIN message AS answer ON answer.workspace_id = feedback.workspace_id AND answer.id = feedback.message_id
LEFT JOIN message AS question ON question.workspace_id = answer.workspace_id AND question.id = answer.parent_id
WHERE feedback.workspace_id = %(workspace_id)s
  AND (%(rating)s::text IS NULL OR feedback.rating = %(rating)s)
  AND (%(before_at)s::timestamptz IS NULL
       OR (feedback.created_at, feedback.message_id) < (%(before_at)s, %(before_id)s::uuid))
ORDER BY feedback.created_at DESC, feedback.message_id DESC
LIMIT %(limit)s;
