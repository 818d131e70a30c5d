-- The blocks of the terms, and as `grouped` the groups that they are in, if they are in one, by their first terms.
SELECT false AS grouped, term, block, first_chunk, last_chunk, postings, max_frequency, min_length
FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
UNION ALL
SELECT DISTINCT true, found.first_term, found.number, 0::bigint, 0::bigint, 0, 0, 0
FROM unnest(%(terms)s::text[]) AS wanted (term)
CROSS JOIN LATERAL (
    SELECT number, first_term FROM posting_group
    WHERE workspace_id = %(workspace_id)s AND first_term <= wanted.term
    ORDER BY first_term DESC
    LIMIT 1
) AS found
