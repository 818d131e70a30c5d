SELECT term, sum(postings)::bigint AS frequency
FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
GROUP BY term
