SELECT document, batch FROM recent_postings WHERE workspace_id = %(workspace_id)s ORDER BY document, batch
