-- The groups that terms from one to before another may be in.
SELECT number, first_term FROM posting_group
WHERE workspace_id = %(workspace_id)s AND first_term < %(last)s
  AND first_term >= (SELECT coalesce(max(first_term), '') FROM posting_group
                     WHERE workspace_id = %(workspace_id)s AND first_term <= %(first)s)
ORDER BY first_term
LIMIT %(most)s
