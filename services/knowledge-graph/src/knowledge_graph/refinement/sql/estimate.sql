-- `calls` and `tokens`: of the different texts that are still to be asked for.
WITH passage AS (
    SELECT chunk.document_id, chunk.digest, chunk.tokens, coalesce(result.state, 'again') AS state
    FROM refinement_chunk AS chunk
    LEFT JOIN refinement_result AS result
        ON result.workspace_id = chunk.workspace_id AND result.digest = chunk.digest
    WHERE
        chunk.workspace_id = %(workspace_id)s
        AND (%(document_ids)s::uuid[] IS NULL OR chunk.document_id = ANY(%(document_ids)s::uuid[]))
),

pending AS (SELECT DISTINCT ON (digest) tokens FROM passage WHERE state = 'again' ORDER BY digest)

SELECT
    (SELECT count(DISTINCT document_id) FROM passage) AS documents,
    (SELECT count(*) FROM passage) AS chunks,
    (SELECT count(*) FROM passage WHERE state = 'done') AS refined_chunks,
    (SELECT count(*) FROM passage WHERE state = 'failed') AS failed_chunks,
    (SELECT count(*) FROM pending) AS calls,
    (SELECT coalesce(sum(tokens), 0)::bigint FROM pending) AS tokens
