SELECT model, dims FROM workspace_embedding WHERE workspace_id = %(workspace_id)s
