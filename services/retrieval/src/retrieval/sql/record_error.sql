UPDATE embedding_space SET
    attempts = attempts + 1, error_class = %(error_class)s, error_message = %(error_message)s,
    next_attempt_at = now() + make_interval(secs => %(delay_seconds)s),
    status = CASE WHEN %(final)s AND status = 'building' THEN 'failed' ELSE status END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s
