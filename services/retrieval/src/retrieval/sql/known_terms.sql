-- How many postings blocks have of the terms, and as `grouped` the groups that they are in, if they are in one.
SELECT false AS grouped, term, sum(postings)::bigint AS frequency
FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
GROUP BY term
UNION ALL
SELECT DISTINCT true, found.first_term, found.number
FROM unnest(%(terms)s::text[]) AS wanted (term)
CROSS JOIN LATERAL (
    SELECT number, first_term FROM posting_group
    WHERE workspace_id = %(workspace_id)s AND first_term <= wanted.term
    ORDER BY first_term DESC
    LIMIT 1
) AS found
