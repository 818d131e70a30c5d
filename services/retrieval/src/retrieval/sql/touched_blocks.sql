-- The blocks of some terms that chunks of a range may be in.
SELECT term, block, payload FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
  AND first_chunk <= %(last)s AND last_chunk >= %(first)s
