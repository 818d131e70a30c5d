SELECT term, block, first_chunk, last_chunk, postings, max_frequency, min_length
FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
ORDER BY term, first_chunk, block
