-- The same of every term, a page at a time.
SELECT term, block, payload FROM posting_block
WHERE workspace_id = %(workspace_id)s AND (term, block) > (%(after_term)s, %(after_block)s)
  AND first_chunk <= %(last)s AND last_chunk >= %(first)s
ORDER BY term, block
LIMIT %(limit)s
