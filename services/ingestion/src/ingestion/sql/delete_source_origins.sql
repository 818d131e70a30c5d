DELETE FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
