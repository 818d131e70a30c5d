-- In how many chunks each name's candidates were.
WITH gone AS (
    DELETE FROM candidates
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
    RETURNING chunk_id, hashes
)
SELECT one.hash, count(DISTINCT gone.chunk_id)::integer AS chunks
FROM gone CROSS JOIN LATERAL unnest(gone.hashes) AS one (hash)
GROUP BY one.hash
