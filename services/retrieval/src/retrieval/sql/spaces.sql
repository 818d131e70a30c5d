SELECT id, model, dims, status, activate, incomplete, rate, error_class, error_message, created_at, activated_at
FROM embedding_space
WHERE workspace_id = %(workspace_id)s
ORDER BY created_at, id
