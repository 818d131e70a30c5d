-- The literal is that of the partial index.
SELECT term, block, payload FROM posting_block
WHERE workspace_id = %(workspace_id)s AND postings <= 64
LIMIT %(limit)s
