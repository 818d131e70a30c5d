SELECT stemming FROM workspace_stemming WHERE workspace_id = %(workspace_id)s AND documents > 0
