-- Of each term the block that its new postings are put into, where there is one with room that is not too large to be
-- written again for so few: what is added is a fifth of what is written, or more.
SELECT wanted.term, growing.block, growing.payload
FROM unnest(%(terms)s::text[], %(counts)s::integer[]) AS wanted (term, count)
CROSS JOIN LATERAL (
    SELECT block, payload
    FROM (SELECT block, postings, payload FROM posting_block
          WHERE workspace_id = %(workspace_id)s AND posting_block.term = wanted.term
          ORDER BY block DESC
          LIMIT 4) AS newest
    WHERE postings + count <= %(largest)s AND postings <= 4 * count
    ORDER BY postings
    LIMIT 1
) AS growing
