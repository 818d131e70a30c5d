SELECT request_sha256, answer FROM idempotent_create
WHERE workspace_id = %(workspace_id)s AND api_key_id = %(api_key_id)s AND idempotency_key = %(idempotency_key)s
