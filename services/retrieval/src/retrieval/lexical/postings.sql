-- name: terms_with_prefix
-- Returns the most frequent terms among at most `scanned` blocks.
SELECT term, sum(postings)::bigint AS frequency
FROM (SELECT term, postings FROM posting_block
      WHERE workspace_id = %(workspace_id)s AND term >= %(first)s AND term < %(last)s
      ORDER BY term
      LIMIT %(scanned)s) AS found
GROUP BY term
ORDER BY frequency DESC, term
LIMIT %(most)s;

-- name: similar_terms
-- Returns known terms that are similar to one.
SELECT term, frequency FROM similar_terms(%(term)s, %(most)s);

-- name: block_headers
-- Returns the headers of the blocks of terms, and as `grouped` the groups that they may be in, by first term.
SELECT false AS grouped, term, block, first_chunk, last_chunk, postings, max_frequency, min_length
FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
UNION ALL
SELECT DISTINCT true, found.first_term, found.number, 0::bigint, 0::bigint, 0, 0, 0
FROM unnest(%(terms)s::text[]) AS wanted (term)
CROSS JOIN LATERAL (
    SELECT number, first_term FROM posting_group
    WHERE workspace_id = %(workspace_id)s AND first_term <= wanted.term
    ORDER BY first_term DESC
    LIMIT 1
) AS found;

-- name: block_payloads
-- Returns the postings of blocks.
SELECT posting_block.block, posting_block.payload
FROM unnest(%(terms)s::text[], %(blocks)s::bigint[]) AS wanted (term, block)
JOIN posting_block ON posting_block.workspace_id = %(workspace_id)s AND posting_block.term = wanted.term
                  AND posting_block.block = wanted.block;

-- name: group_payloads
-- Returns the postings of groups.
SELECT number, payload FROM posting_group WHERE workspace_id = %(workspace_id)s AND first_term = ANY (%(first_terms)s);

-- name: groups_between
-- Returns the groups that may have terms from one to before another.
SELECT number, first_term FROM posting_group
WHERE workspace_id = %(workspace_id)s AND first_term < %(last)s
  AND first_term >= (SELECT coalesce(max(first_term), '') FROM posting_group
                     WHERE workspace_id = %(workspace_id)s AND first_term <= %(first)s)
ORDER BY first_term
LIMIT %(most)s;

-- name: recent_payloads
-- Returns the postings of recent rows.
SELECT recent.document, recent.batch, recent.payload
FROM unnest(%(documents)s::bigint[], %(batches)s::bigint[]) AS wanted (document, batch)
JOIN recent_postings AS recent
  ON recent.workspace_id = %(workspace_id)s AND recent.document = wanted.document AND recent.batch = wanted.batch;

-- name: chunks_to_check
-- Returns the texts of chunks, to check conditions in.
SELECT chunk.number, coalesce(title, name) AS title, heading_path, section_title, content, stemming
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = ANY (%(chunks)s);
