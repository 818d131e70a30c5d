DELETE FROM origin WHERE workspace_id = %(workspace_id)s AND id = %(origin_id)s
