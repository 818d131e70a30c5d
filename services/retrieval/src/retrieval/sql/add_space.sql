INSERT INTO embedding_space (workspace_id, id, model, dims, status, activate, activated_at)
VALUES (%(workspace_id)s, %(id)s, %(model)s, %(dims)s, %(status)s, %(activate)s,
        CASE WHEN %(status)s = 'active' THEN now() END)
ON CONFLICT DO NOTHING
