-- name: all
-- Returns the embedding spaces of the workspace, oldest first.
SELECT id, model, dims, status, activate, state, attempts, rate, error_class, error_message, created_at, activated_at
FROM embedding_space
WHERE workspace_id = %(workspace_id)s
ORDER BY created_at, id;

-- name: add
-- Adds a space, and queues it unless it is active: then there is nothing to build.
INSERT INTO embedding_space (workspace_id, id, model, dims, status, activate, activated_at, state)
VALUES (%(workspace_id)s, %(id)s, %(model)s, %(dims)s, %(status)s, %(activate)s,
        CASE WHEN %(status)s = 'active' THEN now() END, CASE WHEN %(status)s = 'active' THEN 'idle' ELSE 'queued' END)
ON CONFLICT DO NOTHING;

-- name: change
-- Changes the status of a space. Its worker loses the lease.
UPDATE embedding_space SET
    status = %(status)s, activate = %(activate)s, attempts = 0, error_class = NULL, error_message = NULL,
    state = CASE WHEN %(status)s IN ('building', 'dropping') THEN 'queued' ELSE 'idle' END,
    available_at = now(), lease_token = NULL, lease_expires_at = NULL,
    activated_at = CASE WHEN %(status)s = 'active' AND status <> 'active' THEN now() ELSE activated_at END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: activate_no_other
-- Cancels the switch to any other space.
UPDATE embedding_space SET activate = false WHERE workspace_id = %(workspace_id)s AND id <> %(id)s AND activate;

-- name: mark_incomplete
-- Queues a space that lacks vectors.
UPDATE embedding_space SET state = 'queued', available_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'idle';

-- name: adopt_default
-- Builds the default space, and switches to it, in workspaces whose active model is no longer configured,
-- unless a switch to another configured model is under way.
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
    status = 'building', activate = true, attempts = 0, state = 'queued', available_at = now(),
    lease_token = NULL, lease_expires_at = NULL
WHERE known.status IN ('ready', 'building', 'failed');

-- name: remove
-- Deletes a dropped space.
DELETE FROM embedding_space
WHERE workspace_id = %(workspace_id)s AND lease_token = %(lease_token)s AND status = 'dropping';

-- name: workspace_size
-- Counts the chunks of the workspace.
SELECT chunks FROM workspace_statistics WHERE workspace_id = %(workspace_id)s;

-- name: vector_counts
-- Counts the vectors of each space.
SELECT model, dims, count(*) FROM chunk_vector WHERE workspace_id = %(workspace_id)s GROUP BY model, dims;

-- name: documents
-- Returns the given documents with the counts of their chunks and vectors, in the order given.
SELECT document_id, version, chunk_count,
       (SELECT count(*) FROM chunk_vector
        WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
          AND chunk >= indexed.number << 20 AND chunk < (indexed.number + 1) << 20) AS vectors
FROM indexed_document AS indexed
WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(document_ids)s)
ORDER BY array_position(%(document_ids)s::uuid[], document_id);

-- name: incomplete_documents
-- Returns the documents with a chunk that has no vector.
SELECT document_id, version, chunk_count, coalesce(vectors, 0) AS vectors
FROM indexed_document AS indexed
LEFT JOIN (SELECT document, count(*) AS vectors FROM chunk_vector
           WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
           GROUP BY document) AS counted ON counted.document = indexed.number
WHERE workspace_id = %(workspace_id)s AND chunk_count <> coalesce(vectors, 0);

-- name: missing_chunks
-- Returns chunks without a vector, in order of their numbers.
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
-- Adds vectors of chunks that still exist; their documents are locked.
INSERT INTO chunk_vector (workspace_id, chunk, document, model, embedding)
SELECT chunk.workspace_id, chunk.number, chunk.document, %(model)s, written.embedding::halfvec
FROM unnest(%(numbers)s::bigint[], %(embeddings)s::text[]) AS written (number, embedding)
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND chunk.number = written.number
ON CONFLICT (workspace_id, model, dims, chunk) DO NOTHING;

-- name: drop_vectors
-- Deletes some vectors of a space.
DELETE FROM chunk_vector
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
    LIMIT %(limit)s));
