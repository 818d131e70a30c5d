-- name: insert
INSERT INTO refinement_chunk (workspace_id, document_id, number, chunk_id, digest, tokens, applied)
SELECT %(workspace_id)s, rows.*
FROM unnest(
    %(document_ids)s::uuid[], %(numbers)s::integer[], %(chunk_ids)s::text[], %(digests)s::bytea[], %(tokens)s::integer[], %(applied)s::boolean[]
) AS rows;

-- name: note_documents
INSERT INTO refinement_document (workspace_id, document_id)
SELECT %(workspace_id)s, unnest(%(document_ids)s::uuid[])
ON CONFLICT DO NOTHING;

-- name: delete_documents
WITH queued AS (
    DELETE FROM refinement_queue WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
)
DELETE FROM refinement_document WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: delete
-- Returns the documents and the digests of the deleted chunks' texts.
DELETE FROM refinement_chunk
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
RETURNING document_id, digest;

-- name: unread_documents
-- Lists documents that were graphed before their chunks were stored.
SELECT document.document_id, document.name, document.chunks_key
FROM graphed_document AS document
WHERE
    document.workspace_id = %(workspace_id)s
    AND document.chunks_key <> ''
    AND NOT EXISTS (
        SELECT FROM refinement_document AS read
        WHERE read.workspace_id = document.workspace_id AND read.document_id = document.document_id
    )
ORDER BY document.document_id
LIMIT %(limit)s;

-- name: estimate
-- `calls` and `tokens` are for the distinct texts that are still to be asked about.
WITH refinable AS (
    SELECT chunk.document_id, chunk.digest, chunk.tokens, coalesce(result.state, 'again') AS state
    FROM refinement_chunk AS chunk
    LEFT JOIN refinement_result AS result
        ON result.workspace_id = chunk.workspace_id AND result.digest = chunk.digest
    WHERE
        chunk.workspace_id = %(workspace_id)s
        AND (%(document_ids)s::uuid[] IS NULL OR chunk.document_id = ANY(%(document_ids)s::uuid[]))
),

pending AS (SELECT DISTINCT ON (digest) tokens FROM refinable WHERE state = 'again' ORDER BY digest)

SELECT
    (SELECT count(DISTINCT document_id) FROM refinable) AS documents,
    (SELECT count(*) FROM refinable) AS chunks,
    (SELECT count(*) FROM refinable WHERE state = 'done') AS refined_chunks,
    (SELECT count(*) FROM refinable WHERE state = 'failed') AS failed_chunks,
    (SELECT count(*) FROM pending) AS calls,
    (SELECT coalesce(sum(tokens), 0)::bigint FROM pending) AS tokens;

-- name: next_pending
SELECT chunk.document_id, chunk.number, chunk.chunk_id, chunk.digest, chunk.tokens, document.chunks_key
FROM refinement_chunk AS chunk
INNER JOIN graphed_document AS document
    ON document.workspace_id = chunk.workspace_id AND document.document_id = chunk.document_id
WHERE
    chunk.workspace_id = %(workspace_id)s
    AND (chunk.document_id, chunk.number) > (%(after_document)s::uuid, %(after_number)s::integer)
    AND chunk.digest <> ALL(%(except)s::bytea[])
    AND NOT EXISTS (
        SELECT FROM refinement_result AS result
        WHERE
            result.workspace_id = chunk.workspace_id
            AND result.digest = chunk.digest
            AND result.state <> 'again'
    )
ORDER BY chunk.document_id, chunk.number
LIMIT %(limit)s;

-- name: lock_text
-- Locks the chunks with this text, so that they cannot be deleted while a result for them is written.
SELECT document_id FROM refinement_chunk WHERE workspace_id = %(workspace_id)s AND digest = %(digest)s FOR SHARE;

-- name: results
SELECT digest, found FROM refinement_result
WHERE workspace_id = %(workspace_id)s AND digest = ANY(%(digests)s::bytea[]) AND state = 'done';

-- name: put_result
-- Counts `attempts` until the text is given up.
INSERT INTO refinement_result (workspace_id, digest, state, attempts, found, model, error)
VALUES (%(workspace_id)s, %(digest)s, %(state)s, 1, %(found)s, %(model)s, %(error)s)
ON CONFLICT (workspace_id, digest) DO UPDATE SET
    state = CASE
        WHEN excluded.state = 'again' AND refinement_result.attempts + 1 >= %(most_attempts)s THEN 'failed'
        ELSE excluded.state
    END,
    attempts = refinement_result.attempts + 1,
    found = excluded.found,
    model = excluded.model,
    error = excluded.error,
    changed_at = now()
WHERE refinement_result.state <> 'done';

-- name: mark_unapplied
-- A graph that already has a result for this text has one that was deleted since.
UPDATE refinement_chunk SET applied = false
WHERE workspace_id = %(workspace_id)s AND digest = %(digest)s AND applied;

-- name: delete_orphaned_results
-- Deletes results for texts that no chunk has any more; returns their digests.
DELETE FROM refinement_result AS result
WHERE
    result.workspace_id = %(workspace_id)s
    AND result.digest = ANY(%(digests)s::bytea[])
    AND NOT EXISTS (
        SELECT FROM refinement_chunk AS chunk
        WHERE chunk.workspace_id = result.workspace_id AND chunk.digest = result.digest
    )
RETURNING result.digest;

-- name: delete_results
DELETE FROM refinement_result WHERE workspace_id = %(workspace_id)s;

-- name: queue_settled
-- Queues the documents with this text that have no chunks left to ask about.
INSERT INTO refinement_queue (workspace_id, document_id)
SELECT DISTINCT chunk.workspace_id, chunk.document_id
FROM refinement_chunk AS chunk
WHERE
    chunk.workspace_id = %(workspace_id)s
    AND chunk.digest = %(digest)s
    AND NOT EXISTS (
        SELECT FROM refinement_chunk AS other
        WHERE
            other.workspace_id = chunk.workspace_id
            AND other.document_id = chunk.document_id
            AND NOT EXISTS (
                SELECT FROM refinement_result AS result
                WHERE
                    result.workspace_id = other.workspace_id
                    AND result.digest = other.digest
                    AND result.state <> 'again'
            )
    )
ON CONFLICT (workspace_id, document_id) DO UPDATE SET sequence = DEFAULT;

-- name: queue_unapplied
-- Queues the documents whose graph lacks available results.
INSERT INTO refinement_queue (workspace_id, document_id)
SELECT DISTINCT chunk.workspace_id, chunk.document_id
{unapplied}
ON CONFLICT (workspace_id, document_id) DO UPDATE SET sequence = DEFAULT;

-- name: count_unapplied
SELECT count(DISTINCT chunk.document_id)
{unapplied};

-- name: is_unapplied
SELECT EXISTS (
    SELECT
    {unapplied} AND chunk.document_id = %(document_id)s
);

-- name: delete_queued
-- Deletes the finished item, unless it was queued again meanwhile.
DELETE FROM refinement_queue
WHERE
    workspace_id = %(workspace_id)s
    AND document_id = %(document_id)s
    AND lease_token = %(lease_token)s
    AND sequence = %(sequence)s;
