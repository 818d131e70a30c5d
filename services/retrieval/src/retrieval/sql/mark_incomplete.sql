UPDATE embedding_space SET incomplete = true WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND NOT incomplete
