-- Which of the query's terms each candidate has, with their BM25 parts' inputs.
SELECT posting.chunk, posting.term, frequency, length
FROM unnest(%(chunks)s::bigint[]) AS candidate (chunk)
CROSS JOIN unnest(%(terms)s::text[]) AS wanted (term)
JOIN posting ON posting.workspace_id = %(workspace_id)s AND posting.term = wanted.term
            AND posting.chunk = candidate.chunk
