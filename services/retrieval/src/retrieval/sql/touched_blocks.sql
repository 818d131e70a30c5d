-- The blocks of some terms that chunks of these ranges may be in.
SELECT term, block, payload FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
  AND EXISTS (SELECT FROM unnest(%(firsts)s::bigint[], %(lasts)s::bigint[]) AS range (first, last)
              WHERE first_chunk <= range.last AND last_chunk >= range.first)
