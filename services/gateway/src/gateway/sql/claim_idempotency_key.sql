INSERT INTO idempotent_create (workspace_id, api_key_id, idempotency_key, request_sha256)
VALUES (%(workspace_id)s, %(api_key_id)s, %(idempotency_key)s, %(request_sha256)s)
ON CONFLICT (workspace_id, api_key_id, idempotency_key) DO UPDATE
    SET request_sha256 = excluded.request_sha256, answer = NULL, created_at = clock_timestamp()
    WHERE idempotent_create.created_at < clock_timestamp() - %(lifetime)s
RETURNING true AS claimed
