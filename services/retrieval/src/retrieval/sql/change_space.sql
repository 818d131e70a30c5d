UPDATE embedding_space SET
    status = %(status)s, activate = %(activate)s, incomplete = false, attempts = 0, error_class = NULL,
    error_message = NULL, next_attempt_at = NULL,
    activated_at = CASE WHEN %(status)s = 'active' AND status <> 'active' THEN now() ELSE activated_at END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s
