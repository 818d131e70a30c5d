DELETE FROM posting WHERE workspace_id = %(workspace_id)s AND document = %(document)s AND chunk = ANY (%(chunks)s)
