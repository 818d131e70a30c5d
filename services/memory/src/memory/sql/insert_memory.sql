INSERT INTO memory (workspace_id, id, kind, content, created_by, session_id, run_id, embedding_model, embedding)
VALUES (
    %(workspace_id)s, %(id)s, %(kind)s, %(content)s, %(created_by)s, %(session_id)s, %(run_id)s, %(model)s,
    %(embedding)s::vector
)
ON CONFLICT DO NOTHING
