INSERT INTO session (workspace_id, id, created_by, title, idempotency_key)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(title)s, %(key)s)
ON CONFLICT (workspace_id, created_by, idempotency_key) WHERE idempotency_key IS NOT NULL
    DO UPDATE SET idempotency_key = excluded.idempotency_key
RETURNING id, title, created_at, updated_at, version
