-- name: find
SELECT {columns}
FROM document
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s AND status <> 'deleting';

-- name: find_by_hash
SELECT {columns}
FROM document
WHERE workspace_id = %(workspace_id)s AND content_hash = %(content_hash)s AND status <> 'deleting';

-- name: lock
SELECT {columns}
FROM document
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s AND status <> 'deleting'
FOR UPDATE;

-- name: lock_all
-- Locks documents in the order of their ids, as every transaction that locks several must.
SELECT {columns}
FROM document
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s) AND status <> 'deleting'
ORDER BY id
FOR UPDATE;

-- name: page
SELECT {columns}
FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting'
  AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))
  AND (%(content_hash)s::text IS NULL OR content_hash = %(content_hash)s)
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(name)s::text IS NULL OR name ILIKE %(name)s)
  AND (%(media_type)s::text IS NULL OR media_type = %(media_type)s)
  AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s)
  AND (%(source_id)s::uuid IS NULL OR EXISTS (
        SELECT FROM origin
        WHERE origin.workspace_id = document.workspace_id AND origin.document_id = document.id
          AND origin.source_id = %(source_id)s
      ))
  AND (%(tag)s::text IS NULL OR lower(%(tag)s) = ANY(lower(tags::text)::text[]))
  AND (%(embedding_status)s::text IS NULL OR embedding_status = %(embedding_status)s)
  AND (%(stale)s::boolean IS NULL OR (stale_at IS NOT NULL) = %(stale)s)
  AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: choose
SELECT id FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting'
  AND (%(after)s::uuid IS NULL OR id > %(after)s)
  AND (%(document_ids)s::uuid[] IS NULL OR id = ANY(%(document_ids)s))
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(embedding_status)s::text IS NULL OR embedding_status = %(embedding_status)s)
  AND (%(source_id)s::uuid IS NULL OR EXISTS (
        SELECT FROM origin
        WHERE origin.workspace_id = document.workspace_id AND origin.document_id = document.id
          AND origin.source_id = %(source_id)s
      ))
  AND (%(error_class)s::text IS NULL OR EXISTS (
        SELECT FROM document_stage AS stage
        WHERE stage.workspace_id = document.workspace_id AND stage.document_id = document.id
          AND stage.state IN ('failed', 'queued') AND stage.error_class = %(error_class)s
      ))
ORDER BY id
LIMIT %(limit)s;

-- name: summarise
-- Counts by status, stage and failure. Joins by primary keys only, to be fast before the planner has statistics.
WITH counted AS (
    SELECT document.status, count(*) AS documents,
           count(*) FILTER (WHERE document.embedding_status = 'failed') AS embedding_failed
    FROM document
    WHERE document.workspace_id = %(workspace_id)s AND document.status <> 'deleting'
      AND (%(source_id)s::uuid IS NULL OR EXISTS (
            SELECT FROM origin
            WHERE origin.workspace_id = document.workspace_id AND origin.document_id = document.id
              AND origin.source_id = %(source_id)s
          ))
    GROUP BY document.status
),
open_stage AS (
    SELECT stage.document_id, stage.name, stage.state AS status, stage.error_class, document.status AS document_status,
           document.file_size
    FROM document_stage AS stage
    JOIN document ON document.workspace_id = stage.workspace_id AND document.id = stage.document_id
    WHERE stage.workspace_id = %(workspace_id)s AND stage.state IN ('queued', 'running', 'failed')
      AND document.status <> 'deleting'
      AND (%(source_id)s::uuid IS NULL OR EXISTS (
            SELECT FROM origin
            WHERE origin.workspace_id = stage.workspace_id AND origin.document_id = stage.document_id
              AND origin.source_id = %(source_id)s
          ))
),
at_stage AS (
    SELECT name, count(*) AS documents FROM open_stage WHERE status IN ('queued', 'running') GROUP BY name
),
failure AS (
    SELECT coalesce(error_class, 'unknown') AS error_class, count(DISTINCT document_id) AS documents
    FROM open_stage
    WHERE document_status = 'failed' AND status = 'failed' AND name <> 'graph'
    GROUP BY 1
),
done AS (
    SELECT version.indexed_at
    FROM document_version AS version
    JOIN document ON document.workspace_id = version.workspace_id AND document.id = version.document_id
    WHERE version.workspace_id = %(workspace_id)s AND version.indexed_at > now() - interval '5 minutes'
      AND document.status <> 'deleting'
      AND (%(source_id)s::uuid IS NULL OR EXISTS (
            SELECT FROM origin
            WHERE origin.workspace_id = version.workspace_id AND origin.document_id = version.document_id
              AND origin.source_id = %(source_id)s
          ))
)
SELECT (SELECT coalesce(sum(documents), 0)::bigint FROM counted) AS total,
       (SELECT coalesce(jsonb_object_agg(status, documents), '{}') FROM counted) AS by_status,
       (SELECT coalesce(jsonb_object_agg(name, documents), '{}') FROM at_stage) AS by_stage,
       (SELECT coalesce(sum(embedding_failed), 0)::bigint FROM counted) AS embedding_failed,
       (SELECT coalesce(jsonb_object_agg(error_class, documents), '{}') FROM failure) AS failures,
       (SELECT coalesce(sum(file_size), 0)::bigint FROM open_stage
        WHERE name = 'convert' AND status IN ('queued', 'running')) AS queued_bytes,
       (SELECT count(*) FROM done WHERE indexed_at > now() - interval '1 minute') AS done_last_minute,
       (SELECT count(*) FROM done) AS done_lately,
       (SELECT min(indexed_at) FROM done) AS done_since;

-- name: lock_contents
-- In the order given.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || content, 0))
FROM unnest(%(contents)s::text[]) AS content;

-- name: lock_content
-- Serialises the upload of a content with the deletion of its last document.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || %(content_hash)s, 0));

-- name: insert
-- Inserts a document with its first version. `describe` fills the source columns from its origin.
WITH inserted AS (
    INSERT INTO document (workspace_id, id, name, media_type, file_size, content_hash, source_type)
    VALUES (%(workspace_id)s, %(document_id)s, %(name)s, %(media_type)s, %(file_size)s, %(content_hash)s, %(kind)s)
    RETURNING *
)
INSERT INTO document_version (workspace_id, document_id, version, name, media_type, file_size, content_hash)
SELECT workspace_id, id, version, name, media_type, file_size, content_hash FROM inserted;

-- name: begin_version
-- Adds a version. Columns from the conversion keep the previous version's values until it is converted.
WITH newer AS (
    UPDATE document
    SET version = version + 1, media_type = %(media_type)s, file_size = %(file_size)s, content_hash = %(content_hash)s,
        status = 'processing', embedding_status = 'pending', embedding_model = NULL, embedding_dims = NULL,
        stale_at = NULL, updated_at = now()
    WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
    RETURNING workspace_id, id, version, media_type, file_size, content_hash
),
replaced AS (
    UPDATE document_version AS older
    SET replaced_at = now()
    FROM newer
    WHERE older.workspace_id = newer.workspace_id AND older.document_id = newer.id AND older.replaced_at IS NULL
)
INSERT INTO document_version (workspace_id, document_id, version, name, media_type, file_size, content_hash)
SELECT workspace_id, id, version, %(name)s, media_type, file_size, content_hash FROM newer;

-- name: set_status
UPDATE document
SET status = %(status)s, updated_at = now(),
    indexed_at = CASE WHEN %(status)s = 'searchable' THEN now() ELSE indexed_at END
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s);

-- name: cancel
-- Cancels documents; published ones stay lexically searchable. Filters both tables by id, so that neither is scanned.
UPDATE document
SET status = CASE WHEN index.state = 'waiting' THEN 'cancelled' ELSE document.status END,
    embedding_status = CASE WHEN index.state = 'waiting' THEN document.embedding_status ELSE 'failed' END,
    updated_at = now()
FROM document_stage AS index
WHERE document.workspace_id = %(workspace_id)s AND document.id = ANY(%(document_ids)s)
  AND index.workspace_id = %(workspace_id)s AND index.document_id = ANY(%(document_ids)s)
  AND index.document_id = document.id AND index.name = 'index';

-- name: resume
-- Resumes documents. A searchable version stays searchable while its embedding or graph is retried.
UPDATE document
SET status = CASE WHEN status IN ('failed', 'cancelled') THEN 'processing' ELSE status END,
    embedding_status = CASE WHEN id IN (
        SELECT wanted.document_id
        FROM unnest(%(document_ids)s::uuid[], %(names)s::text[]) AS wanted (document_id, name)
        WHERE wanted.name IN ('convert', 'embed')
    ) THEN 'pending' ELSE embedding_status END,
    updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s);

-- name: describe
-- Copies the source columns of documents from their first origin; a document is stale if it is missing at every origin.
-- `changed` says whether other services have outdated values.
WITH was AS (
    SELECT id, (name, source_type, source_ids, source_name, source_path, source_uri) AS shown FROM document
    WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s)
),
first AS (
    SELECT DISTINCT ON (origin.document_id) origin.document_id, origin.kind, origin.source_id, origin.path, origin.uri,
           origin.name, coalesce(source.name, origin.name) AS source_name,
           bool_and(origin.missing_since IS NOT NULL) OVER (PARTITION BY origin.document_id) AS missing,
           ARRAY(SELECT DISTINCT other.source_id FROM origin AS other
                 WHERE other.workspace_id = %(workspace_id)s AND other.document_id = origin.document_id
                   AND other.source_id IS NOT NULL
                 ORDER BY other.source_id) AS source_ids
    FROM origin
    LEFT JOIN source ON source.workspace_id = origin.workspace_id AND source.id = origin.source_id
    WHERE origin.workspace_id = %(workspace_id)s AND origin.document_id = ANY(%(document_ids)s)
    ORDER BY origin.document_id, origin.created_at, origin.id
),
described AS (
    UPDATE document
    SET name = first.name, source_type = first.kind, source_id = first.source_id, source_name = first.source_name,
        source_path = first.path, source_uri = first.uri, source_ids = first.source_ids,
        stale_at = CASE WHEN first.missing THEN coalesce(document.stale_at, now()) END, updated_at = now()
    FROM first
    JOIN was ON was.id = first.document_id
    WHERE document.workspace_id = %(workspace_id)s AND document.id = first.document_id
    RETURNING document.*,
              document.chunk_count IS NOT NULL
              AND (document.name, document.source_type, document.source_ids, document.source_name, document.source_path,
                   document.source_uri) IS DISTINCT FROM was.shown AS changed
)
SELECT {columns}, changed FROM described;

-- name: give
-- Gives a document a title or tags of a user's choice.
UPDATE document
SET given_title = coalesce(%(title)s, given_title), title = coalesce(%(title)s, title),
    given_tags = coalesce(%(tags)s::text[], given_tags), tags = coalesce(%(tags)s::text[], tags), updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
RETURNING {columns};

-- name: record_conversion
WITH version AS (
    UPDATE document_version
    SET title = %(title)s, pages = %(pages)s, chunk_count = %(chunk_count)s, engine = %(engine)s,
        embedding_model = NULL, embedding_dims = NULL
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version = %(version)s
)
UPDATE document
SET title = coalesce(given_title, %(title)s), pages = %(pages)s, chunk_count = %(chunk_count)s, engine = %(engine)s,
    headings = %(headings)s, tags = coalesce(given_tags, %(tags)s), language = %(language)s, authors = %(authors)s,
    written_at = %(written_at)s, modified_at = %(modified_at)s, embedding_status = 'pending', embedding_model = NULL,
    embedding_dims = NULL, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
RETURNING {columns};

-- name: record_embedding
-- Records the model of the vectors; embedding is complete once the index confirms them. Without a model, it has failed.
WITH version AS (
    UPDATE document_version
    SET embedding_model = %(embedding_model)s, embedding_dims = %(embedding_dims)s
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version = %(version)s
)
UPDATE document
SET embedding_model = %(embedding_model)s, embedding_dims = %(embedding_dims)s, updated_at = now(),
    embedding_status = CASE WHEN %(embedding_model)s::text IS NULL THEN 'failed' ELSE 'pending' END
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s;

-- name: fail_embedding
UPDATE document SET embedding_status = 'failed', updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s;

-- name: confirm_index
-- Records that retrieval serves these versions, unless it serves later ones. Their counts of vectors complete embedding.
WITH told AS (
    SELECT *
    FROM unnest(%(document_ids)s::uuid[], %(versions)s::integer[], %(vectors)s::integer[], %(chunk_counts)s::integer[])
        AS told (document_id, version, vectors, chunk_count)
),
version AS (
    UPDATE document_version AS known SET indexed_at = coalesce(known.indexed_at, now())
    FROM told
    WHERE known.workspace_id = %(workspace_id)s AND known.document_id = told.document_id AND known.version = told.version
)
UPDATE document
SET searchable_version = greatest(document.searchable_version, told.version),
    embedding_status = CASE
        WHEN document.version <> told.version THEN embedding_status
        WHEN told.vectors = told.chunk_count THEN 'complete'
        WHEN embedding_status = 'complete' THEN 'pending'
        ELSE embedding_status
    END,
    updated_at = now()
FROM told
WHERE document.workspace_id = %(workspace_id)s AND document.id = told.document_id AND document.version >= told.version;

-- name: page_of_versions
SELECT {version_columns}
FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
  AND (%(before)s::bigint IS NULL OR version < %(before)s)
ORDER BY version DESC
LIMIT %(limit)s;

-- name: readable_version
SELECT version FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND chunk_count IS NOT NULL AND erased_at IS NULL
ORDER BY version = %(searchable_version)s::integer DESC NULLS LAST, version DESC
LIMIT 1;

-- name: reusable_version
-- Returns the latest earlier version whose vectors are of this model and still stored.
SELECT version FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version < %(version)s
  AND embedding_model = %(embedding_model)s AND embedding_dims = %(embedding_dims)s AND erased_at IS NULL
ORDER BY version DESC
LIMIT 1;

-- name: choose_embedding
INSERT INTO workspace_embedding (workspace_id, model, dims, told_at)
VALUES (%(workspace_id)s, %(model)s, %(dims)s, %(told_at)s)
ON CONFLICT (workspace_id) DO UPDATE SET model = excluded.model, dims = excluded.dims, told_at = excluded.told_at
WHERE workspace_embedding.told_at <= excluded.told_at;

-- name: chosen_embedding
SELECT model, dims FROM workspace_embedding WHERE workspace_id = %(workspace_id)s;
