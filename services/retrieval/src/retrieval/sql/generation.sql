SELECT generation FROM workspace_statistics WHERE workspace_id = %(workspace_id)s
