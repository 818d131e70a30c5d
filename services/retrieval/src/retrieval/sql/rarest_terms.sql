-- The least frequent of many terms, by counts that stop at a ceiling; unknown terms are left out.
SELECT wanted.term
FROM unnest(%(terms)s::text[]) AS wanted (term)
CROSS JOIN LATERAL (
    SELECT count(*) AS counted FROM (
        SELECT 1 FROM posting
        WHERE posting.workspace_id = %(workspace_id)s AND posting.term = wanted.term
        LIMIT %(ceiling)s
    ) AS postings
) AS frequency
WHERE counted > 0
ORDER BY counted, length(wanted.term) DESC, wanted.term
LIMIT %(keep)s
