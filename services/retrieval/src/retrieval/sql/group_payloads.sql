SELECT number, payload FROM posting_group WHERE workspace_id = %(workspace_id)s AND first_term = ANY (%(first_terms)s)
