DELETE FROM space_weights WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
