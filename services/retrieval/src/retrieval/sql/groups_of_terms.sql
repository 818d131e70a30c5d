-- The group that each of the terms is in, if it is known at all.
SELECT wanted.term, found.number, found.first_term
FROM unnest(%(terms)s::text[]) AS wanted (term)
CROSS JOIN LATERAL (
    SELECT number, first_term FROM posting_group
    WHERE workspace_id = %(workspace_id)s AND first_term <= wanted.term
    ORDER BY first_term DESC
    LIMIT 1
) AS found
