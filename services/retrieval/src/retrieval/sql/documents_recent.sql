SELECT document, batch, payload FROM recent_postings
WHERE workspace_id = %(workspace_id)s AND document = ANY (%(documents)s)
