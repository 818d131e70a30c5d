INSERT INTO workspace_embedding (workspace_id, model, dims, told_at)
VALUES (%(workspace_id)s, %(model)s, %(dims)s, %(told_at)s)
ON CONFLICT (workspace_id) DO UPDATE SET model = excluded.model, dims = excluded.dims, told_at = excluded.told_at
WHERE workspace_embedding.told_at <= excluded.told_at
