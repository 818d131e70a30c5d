SELECT term, count(*) AS chunks FROM posting
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
GROUP BY term
