DELETE FROM posting_block USING unnest(%(terms)s::text[], %(blocks)s::bigint[]) AS gone (term, block)
WHERE posting_block.workspace_id = %(workspace_id)s AND posting_block.term = gone.term
  AND posting_block.block = gone.block
