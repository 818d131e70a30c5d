-- name: current
SELECT asked.document_id
FROM unnest(%(document_ids)s::uuid[], %(versions)s::integer[]) AS asked (document_id, version)
WHERE
    NOT EXISTS (
        SELECT FROM deleted_document AS deleted
        WHERE deleted.workspace_id = %(workspace_id)s AND deleted.document_id = asked.document_id
    )
    AND NOT EXISTS (
        SELECT FROM graphed_document AS later
        WHERE
            later.workspace_id = %(workspace_id)s
            AND later.document_id = asked.document_id
            AND later.version > asked.version
    );

-- name: find
SELECT document_id, version, name, title, language, chunks_key, chunks_digest, written, folder, entities, relations
FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: extracted
SELECT document_id FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND chunks_key <> ''
ORDER BY document_id;

-- name: record
INSERT INTO graphed_document (
    workspace_id, document_id, version, name, title, language, chunks_key, chunks_digest, written, folder, chunks, entities,
    relations, method, notes, dated, series, edition, known_as, replaces
)
VALUES (
    %(workspace_id)s, %(document_id)s, %(version)s, %(name)s, %(title)s, %(language)s, %(chunks_key)s, %(chunks_digest)s,
    %(written)s, %(folder)s, %(chunks)s, %(entities)s, %(relations)s, %(method)s, %(notes)s, %(dated)s, %(series)s,
    %(edition)s::integer[], %(known_as)s::text[], %(replaces)s::text[]
)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET
    version = excluded.version,
    name = excluded.name,
    title = excluded.title,
    language = excluded.language,
    chunks_key = excluded.chunks_key,
    chunks_digest = excluded.chunks_digest,
    written = excluded.written,
    folder = excluded.folder,
    dated = excluded.dated,
    series = excluded.series,
    edition = excluded.edition,
    known_as = excluded.known_as,
    replaces = excluded.replaces,
    chunks = excluded.chunks,
    entities = excluded.entities,
    relations = excluded.relations,
    method = excluded.method,
    notes = excluded.notes,
    graphed_at = now();

-- name: remaining
SELECT document.id AS document_id, counted.kind, counted.rows
FROM unnest(%(document_ids)s::uuid[]) AS document (id)
CROSS JOIN LATERAL (
    SELECT 'mentions' AS kind, count(*) AS rows
    FROM mention
    WHERE workspace_id = %(workspace_id)s AND document_id = document.id
    UNION ALL
    SELECT 'relation_evidence', count(*)
    FROM relation_evidence
    WHERE workspace_id = %(workspace_id)s AND document_id = document.id
    UNION ALL
    SELECT 'alias_evidence', count(*)
    FROM alias_evidence
    WHERE workspace_id = %(workspace_id)s AND document_id = document.id
    UNION ALL
    SELECT 'candidates', count(*)
    FROM candidates
    WHERE workspace_id = %(workspace_id)s AND document_id = document.id
    UNION ALL
    SELECT 'refinement_chunks', count(*)
    FROM refinement_chunk
    WHERE workspace_id = %(workspace_id)s AND document_id = document.id
) AS counted;

-- name: delete
DELETE FROM graphed_document WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: bury
-- Records that the documents were deleted, in whatever order their events arrive.
INSERT INTO deleted_document (workspace_id, document_id)
SELECT %(workspace_id)s, unnest(%(document_ids)s::uuid[])
ON CONFLICT DO NOTHING;

-- name: replaced_by
-- The numbers of documents that these ones replace.
SELECT unnest(replaces) FROM graphed_document WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: generation
-- Always returns one row. `changed_by` distinguishes the generation from the same number in a restored database.
SELECT coalesce(max(generation), 0) AS generation, coalesce(max(xmin::text), '') AS changed_by
FROM graph_generation
WHERE workspace_id = %(workspace_id)s;

-- name: raise_generation
INSERT INTO graph_generation (workspace_id, generation) VALUES (%(workspace_id)s, 1)
ON CONFLICT (workspace_id) DO UPDATE SET generation = graph_generation.generation + 1;

-- name: try_lock
SELECT pg_try_advisory_xact_lock(hashtextextended(%(key)s, 0));

-- name: wait_without_limit
SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', %(wait)s, true);

-- name: lock
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0));

-- name: reset_limits
-- Restores the session's limits, as SET LOCAL ... TO DEFAULT would.
SELECT
    set_config('statement_timeout', reset_val, true) FROM pg_settings WHERE name = 'statement_timeout'
UNION ALL
SELECT set_config('lock_timeout', reset_val, true) FROM pg_settings WHERE name = 'lock_timeout';
