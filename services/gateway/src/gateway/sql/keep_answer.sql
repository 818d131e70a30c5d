UPDATE idempotent_create SET answer = %(answer)s
WHERE workspace_id = %(workspace_id)s AND api_key_id = %(api_key_id)s AND idempotency_key = %(idempotency_key)s
