SELECT workspace_id FROM embedding_space WHERE status = 'active' ORDER BY workspace_id
