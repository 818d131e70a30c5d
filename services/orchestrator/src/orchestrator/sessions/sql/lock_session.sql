SELECT (SELECT count(*) FROM session_document WHERE workspace_id = %(workspace_id)s AND session_id = session.id)
FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
FOR UPDATE
