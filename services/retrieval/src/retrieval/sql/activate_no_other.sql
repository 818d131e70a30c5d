UPDATE embedding_space SET activate = false WHERE workspace_id = %(workspace_id)s AND id <> %(id)s AND activate
