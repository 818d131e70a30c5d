SELECT 1 FROM workspace_deletion WHERE workspace_id = %(workspace_id)s FOR UPDATE
