-- The groups that some terms are in; without what they hold where they are of another part of all groups.
SELECT first_term, CASE WHEN %(part)s::integer IS NULL
                        OR abs(hashtext(first_term)::bigint) %% %(parts)s = %(part)s THEN payload END
FROM (SELECT DISTINCT (SELECT first_term FROM posting_group
                       WHERE workspace_id = %(workspace_id)s AND first_term <= wanted.term
                       ORDER BY first_term DESC
                       LIMIT 1) AS first_term
      FROM unnest(%(terms)s::text[]) AS wanted (term)) AS touched
JOIN posting_group USING (first_term)
WHERE workspace_id = %(workspace_id)s
