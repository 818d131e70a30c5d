-- Of every term, a page at a time.
SELECT first_term, payload FROM posting_group
WHERE workspace_id = %(workspace_id)s AND (%(after)s::text IS NULL OR first_term > %(after)s)
  AND first_chunk <= %(last)s AND last_chunk >= %(first)s
ORDER BY first_term
LIMIT %(limit)s
