-- name: all
SELECT id, model, dims, status, activate, incomplete, rate, error_class, error_message, created_at, activated_at
FROM embedding_space
WHERE workspace_id = %(workspace_id)s
ORDER BY created_at, id;

-- name: add
INSERT INTO embedding_space (workspace_id, id, model, dims, status, activate, activated_at)
VALUES (%(workspace_id)s, %(id)s, %(model)s, %(dims)s, %(status)s, %(activate)s,
        CASE WHEN %(status)s = 'active' THEN now() END)
ON CONFLICT DO NOTHING;

-- name: change
UPDATE embedding_space SET
    status = %(status)s, activate = %(activate)s, incomplete = false, attempts = 0, error_class = NULL,
    error_message = NULL, next_attempt_at = NULL,
    activated_at = CASE WHEN %(status)s = 'active' AND status <> 'active' THEN now() ELSE activated_at END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: activate_no_other
UPDATE embedding_space SET activate = false WHERE workspace_id = %(workspace_id)s AND id <> %(id)s AND activate;

-- name: mark_incomplete
UPDATE embedding_space SET incomplete = true WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND NOT incomplete;

-- name: adopt_default
-- Where the model that a workspace is searched with is configured no more, the default's space is built and switched to,
-- unless a switch to another configured one is under way.
WITH configured AS (
    SELECT * FROM unnest(%(models)s::text[], %(dims)s::integer[]) AS one (model, dims)
), abandoned AS (
    SELECT workspace_id FROM embedding_space AS space
    WHERE status = 'active' AND (model, dims) NOT IN (SELECT model, dims FROM configured)
      AND NOT EXISTS (SELECT FROM deleted_workspace WHERE deleted_workspace.workspace_id = space.workspace_id)
      AND NOT EXISTS (SELECT FROM embedding_space AS other
                      WHERE other.workspace_id = space.workspace_id AND other.activate
                        AND other.status IN ('building', 'failed')
                        AND (other.model, other.dims) IN (SELECT model, dims FROM configured))
)
INSERT INTO embedding_space AS known (workspace_id, id, model, dims, status, activate)
SELECT workspace_id, embedding_space_id(%(model)s, %(default_dims)s), %(model)s, %(default_dims)s, 'building', true
FROM abandoned
ON CONFLICT (workspace_id, id) DO UPDATE SET
    status = 'building', activate = true, attempts = 0, next_attempt_at = NULL
WHERE known.status IN ('ready', 'building', 'failed');

-- name: claim
-- The one that waited longest, of what this process can do and nobody holds. Dropping needs no model.
UPDATE embedding_space AS claimed SET
    lease_owner = %(owner)s, lease_until = now() + make_interval(secs => %(lease_seconds)s), worked_at = now()
FROM (
    SELECT workspace_id, id FROM embedding_space
    WHERE (status = 'dropping'
           OR ((status IN ('building', 'failed') OR (status = 'active' AND incomplete))
               AND (model, dims) IN (SELECT * FROM unnest(%(models)s::text[], %(dims)s::integer[]))))
      AND coalesce(next_attempt_at, '-infinity') <= now() AND coalesce(lease_until, '-infinity') < now()
    ORDER BY worked_at NULLS FIRST
    LIMIT 1
    FOR UPDATE SKIP LOCKED
) AS due
WHERE claimed.workspace_id = due.workspace_id AND claimed.id = due.id
RETURNING claimed.workspace_id, claimed.id, model, dims, status, activate, attempts, rate;

-- name: hold
-- Renews the lease of a space that is still the owner's and still what it was claimed for. `worked`: and all is well.
UPDATE embedding_space SET
    lease_until = now() + make_interval(secs => %(lease_seconds)s),
    rate = coalesce(%(rate)s, rate),
    status = CASE WHEN %(worked)s AND status = 'failed' THEN 'building' ELSE status END,
    attempts = CASE WHEN %(worked)s THEN 0 ELSE attempts END,
    error_class = CASE WHEN %(worked)s THEN NULL ELSE error_class END,
    error_message = CASE WHEN %(worked)s THEN NULL ELSE error_message END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s
  AND replace(status, 'failed', 'building') = replace(%(status)s, 'failed', 'building');

-- name: release
UPDATE embedding_space SET lease_owner = NULL, lease_until = NULL
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s;

-- name: record_error
UPDATE embedding_space SET
    attempts = attempts + 1, error_class = %(error_class)s, error_message = %(error_message)s,
    next_attempt_at = now() + make_interval(secs => %(delay_seconds)s),
    status = CASE WHEN %(final)s AND status = 'building' THEN 'failed' ELSE status END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s;

-- name: remove
DELETE FROM embedding_space
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s AND status = 'dropping';

-- name: workspace_size
SELECT chunks, terms FROM workspace_statistics WHERE workspace_id = %(workspace_id)s;

-- name: vector_counts
SELECT model, dims, count(*) FROM chunk_vector WHERE workspace_id = %(workspace_id)s GROUP BY model, dims;

-- name: count_missing
-- Chunks without a vector of the space.
SELECT count(*) FROM chunk
WHERE workspace_id = %(workspace_id)s
  AND NOT EXISTS (SELECT FROM chunk_vector AS vector
                  WHERE vector.workspace_id = %(workspace_id)s AND vector.model = %(model)s
                    AND vector.dims = %(dims)s AND vector.chunk = chunk.number);

-- name: document_vectors
-- How many of a document's chunks have a vector of the space.
SELECT count(*) FROM chunk_vector
WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
  AND chunk >= %(document)s::bigint << 20 AND chunk < (%(document)s::bigint + 1) << 20;

-- name: complete_documents
SELECT document_id, version, chunk_count FROM indexed_document AS indexed
WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(document_ids)s)
  AND chunk_count = (SELECT count(*) FROM chunk_vector
                     WHERE workspace_id = %(workspace_id)s AND chunk >= indexed.number << 20 AND chunk < (indexed.number + 1) << 20
                       AND model = %(model)s AND dims = %(dims)s);

-- name: incomplete_documents
SELECT document_id, version, chunk_count
FROM indexed_document AS indexed
LEFT JOIN (SELECT document, count(*) AS vectors FROM chunk_vector
           WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
           GROUP BY document) AS counted ON counted.document = indexed.number
WHERE workspace_id = %(workspace_id)s AND chunk_count <> coalesce(vectors, 0);

-- name: missing_chunks
SELECT chunk.number, document_id, heading_path, content
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number > %(after)s
  AND NOT EXISTS (SELECT FROM chunk_vector AS vector
                  WHERE vector.workspace_id = %(workspace_id)s AND vector.model = %(model)s AND vector.dims = %(dims)s
                    AND vector.chunk = chunk.number)
ORDER BY chunk.number
LIMIT %(limit)s;

-- name: fill_vectors
-- Of chunks that are still there; their documents are locked.
INSERT INTO chunk_vector (workspace_id, chunk, document, model, embedding)
SELECT chunk.workspace_id, chunk.number, chunk.document, %(model)s, written.embedding::halfvec
FROM unnest(%(numbers)s::bigint[], %(embeddings)s::text[]) AS written (number, embedding)
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND chunk.number = written.number
ON CONFLICT (workspace_id, model, dims, chunk) DO NOTHING;

-- name: drop_vectors
DELETE FROM chunk_vector
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
    LIMIT %(limit)s));
