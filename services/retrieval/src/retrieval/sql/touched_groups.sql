-- The groups that some terms are in.
SELECT first_term, payload FROM posting_group
WHERE workspace_id = %(workspace_id)s AND first_term IN (
    SELECT (SELECT first_term FROM posting_group
            WHERE workspace_id = %(workspace_id)s AND first_term <= wanted.term
            ORDER BY first_term DESC
            LIMIT 1)
    FROM unnest(%(terms)s::text[]) AS wanted (term))
