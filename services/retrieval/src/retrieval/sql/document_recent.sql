SELECT batch, payload FROM recent_postings WHERE workspace_id = %(workspace_id)s AND document = %(document)s
