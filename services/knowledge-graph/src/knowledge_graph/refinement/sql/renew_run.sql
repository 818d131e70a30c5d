UPDATE refinement_run SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_token = %(lease_token)s
RETURNING state, max_tokens, max_calls, calls, input_tokens + output_tokens AS tokens
