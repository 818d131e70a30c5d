SELECT posting_block.block, posting_block.payload
FROM unnest(%(terms)s::text[], %(blocks)s::bigint[]) AS wanted (term, block)
JOIN posting_block ON posting_block.workspace_id = %(workspace_id)s AND posting_block.term = wanted.term
                  AND posting_block.block = wanted.block
