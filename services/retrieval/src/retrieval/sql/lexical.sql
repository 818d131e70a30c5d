-- BM25 (Robertson, Zaragoza 2009), exact, without the constant factor k1 + 1, over every posting of the terms.
SELECT
    posting.chunk,
    sum(wanted.weight * frequency
        / (frequency + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * length / %(average)s::float8))) AS score
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS wanted (term, weight)
JOIN posting ON posting.workspace_id = %(workspace_id)s AND posting.term = wanted.term
WHERE %(documents)s::bigint[] IS NULL OR posting.document = ANY (%(documents)s::bigint[])
GROUP BY posting.chunk
ORDER BY score DESC, posting.chunk
LIMIT %(limit)s
