SELECT model, dims FROM embedding_space WHERE workspace_id = %(workspace_id)s AND status = 'active'
