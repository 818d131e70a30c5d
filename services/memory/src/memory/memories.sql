-- name: lock
-- Serialises the transactions that derive memories from documents and those that delete documents.
SELECT pg_advisory_xact_lock(hashtextextended('memory/' || %(workspace_id)s::text, 0));

-- name: insert
-- Inserts nothing if the memory exists, or was forgotten. The owner's revision increases in any case.
WITH counted AS (
    INSERT INTO owner_revision AS owner (workspace_id, user_id) VALUES (%(workspace_id)s, %(created_by)s)
    ON CONFLICT (workspace_id, user_id) DO UPDATE SET revision = owner.revision + 1
    RETURNING revision
)
INSERT INTO memory (
    workspace_id, id, kind, content, created_by, session_id, run_id, scope, said_at, terms, pieces, embedding_model,
    embedding, revision
)
SELECT
    %(workspace_id)s, %(id)s, %(kind)s, %(content)s, %(created_by)s, %(session_id)s, %(run_id)s, %(scope)s,
    coalesce(%(said_at)s::timestamptz, now()), %(terms)s::text[], %(pieces)s::bytea, %(model)s, %(embedding)s::vector,
    counted.revision
FROM counted
WHERE NOT EXISTS (
    SELECT FROM forgotten_memory AS forgotten
    WHERE forgotten.workspace_id = %(workspace_id)s AND forgotten.id = %(id)s
)
ON CONFLICT DO NOTHING;

-- name: edit
-- Only notes and facts: messages stay as they were said. Indexes are rebuilt, to drop the old words.
WITH counted AS (
    UPDATE owner_revision AS owner
    SET revision = owner.revision + 1, removed_at_revision = owner.revision + 1
    WHERE owner.workspace_id = %(workspace_id)s AND owner.user_id = %(user_id)s
    RETURNING revision
)
UPDATE memory
SET
    content = %(content)s, terms = %(terms)s::text[], pieces = %(pieces)s::bytea, embedding_model = %(model)s,
    embedding = %(embedding)s::vector, revision = counted.revision
FROM counted
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.id = %(id)s AND memory.created_by = %(user_id)s
    AND memory.kind <> 'episode';

-- name: insert_episode
-- Appends the message to its session.
INSERT INTO episode (workspace_id, id, session_id, position, speaker, role, time_zone, says_nothing)
SELECT
    %(workspace_id)s, %(id)s, %(session_id)s,
    (
        SELECT coalesce(max(last.position) + 1, 0) FROM episode AS last
        WHERE last.workspace_id = %(workspace_id)s AND last.session_id = %(session_id)s
    ),
    %(speaker)s, %(role)s, %(time_zone)s, %(says_nothing)s;

-- name: last_said
-- Returns the last message of a session; the next one is embedded together with it.
SELECT episode.speaker, memory.content
FROM episode
JOIN memory USING (workspace_id, id)
WHERE episode.workspace_id = %(workspace_id)s AND episode.session_id = %(session_id)s
ORDER BY episode.position DESC LIMIT 1;

-- name: said_before
-- Returns what the same person said last in the session before a message.
SELECT memory.content
FROM episode
JOIN memory USING (workspace_id, id)
WHERE
    episode.workspace_id = %(workspace_id)s AND episode.session_id = %(session_id)s
    AND episode.role = %(role)s AND episode.speaker = %(speaker)s
    AND episode.position < (
        SELECT position FROM episode WHERE workspace_id = %(workspace_id)s AND id = %(id)s
    )
ORDER BY episode.position DESC LIMIT 1;

-- name: known
-- Returns which of the ids exist.
SELECT id FROM memory WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s::uuid[]);

-- name: insert_sources
INSERT INTO memory_source (workspace_id, memory_id, document_id)
SELECT %(workspace_id)s, %(memory_id)s, source.document_id
FROM unnest(%(document_ids)s::uuid[]) AS source (document_id)
ON CONFLICT DO NOTHING;

-- name: living_documents
-- Returns which of the documents were not deleted.
SELECT DISTINCT cited.document_id
FROM unnest(%(document_ids)s::uuid[]) AS cited (document_id)
WHERE NOT EXISTS (
    SELECT FROM deleted_document AS deleted
    WHERE deleted.workspace_id = %(workspace_id)s AND deleted.document_id = cited.document_id
);

-- name: find
SELECT {columns} FROM memory
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: page
-- Returns the newest first.
SELECT {columns} FROM memory
WHERE
    workspace_id = %(workspace_id)s
    AND created_by = %(user_id)s
    AND (%(kind)s::text IS NULL OR kind = %(kind)s)
    AND (
        %(ledger)s OR NOT EXISTS (
            SELECT FROM episode AS said
            WHERE said.workspace_id = memory.workspace_id AND said.id = memory.id AND said.says_nothing
        )
    )
    AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: unembed_following
-- A message is embedded together with the one before it, so those after deleted messages are embedded again.
WITH counted AS (
    UPDATE owner_revision AS owner SET revision = owner.revision + 1
    WHERE owner.workspace_id = %(workspace_id)s AND owner.user_id = %(user_id)s
    RETURNING revision
),
unembedded AS (
    UPDATE memory SET embedding = NULL, embedding_model = NULL, revision = counted.revision
    FROM counted, episode AS gone
    JOIN episode AS next
        ON next.workspace_id = gone.workspace_id AND next.session_id = gone.session_id
        AND next.position = gone.position + 1
    WHERE
        gone.workspace_id = %(workspace_id)s AND gone.id = ANY(%(ids)s::uuid[])
        AND memory.workspace_id = next.workspace_id AND memory.id = next.id AND NOT memory.id = ANY(%(ids)s::uuid[])
    RETURNING memory.id
)
INSERT INTO embedding_work AS work (workspace_id, user_id)
SELECT %(workspace_id)s, %(user_id)s WHERE EXISTS (SELECT FROM unembedded)
ON CONFLICT (workspace_id, user_id) DO UPDATE SET state = 'queued', available_at = now()
WHERE work.lease_token IS NULL OR work.state <> 'queued';

-- name: forget
-- Deletes the memories, and keeps their ids.
WITH forgotten AS (
    INSERT INTO forgotten_memory (workspace_id, id, user_id)
    SELECT workspace_id, id, created_by FROM memory
    WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND id = ANY(%(ids)s::uuid[])
    ON CONFLICT DO NOTHING
)
DELETE FROM memory
WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND id = ANY(%(ids)s::uuid[]);

-- name: pin
-- The owner's revision does not change: recall reads this from the row.
UPDATE memory SET pinned = %(pinned)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: mark_deleted
-- Keeps the document's id for good, so that a late turn derives nothing from it.
INSERT INTO deleted_document (workspace_id, document_id)
SELECT %(workspace_id)s, unnest(%(document_ids)s::uuid[])
ON CONFLICT DO NOTHING;

-- name: delete_documents
-- Detaches the documents from what derives from them; a memory whose last sources they were is deleted, and counted for
-- one of them.
WITH detached AS (
    DELETE FROM memory_source
    WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
    RETURNING memory_id, document_id
),
orphaned AS (
    DELETE FROM memory
    USING (SELECT DISTINCT ON (memory_id) memory_id, document_id FROM detached ORDER BY memory_id, document_id) AS lost
    WHERE
        memory.workspace_id = %(workspace_id)s
        AND memory.id = lost.memory_id
        AND NOT EXISTS (
            SELECT FROM memory_source AS other
            WHERE
                other.workspace_id = %(workspace_id)s
                AND other.memory_id = lost.memory_id
                AND other.document_id <> ALL(%(document_ids)s)
        )
    RETURNING lost.document_id
)
SELECT
    document_id, count(*) FILTER (WHERE is_source) AS memory_sources, count(*) FILTER (WHERE NOT is_source) AS memories
FROM (
    SELECT document_id, true AS is_source FROM detached
    UNION ALL
    SELECT document_id, false FROM orphaned
) AS removed
GROUP BY document_id;

-- name: derived
-- Returns each document once for each memory that derives from it.
SELECT document_id FROM memory_source WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: is_session_deleted
SELECT EXISTS (SELECT FROM deleted_session WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s);

-- name: mark_session_deleted
-- Keeps the session's id for good, so that a late turn restores nothing of it.
INSERT INTO deleted_session (workspace_id, session_id) VALUES (%(workspace_id)s, %(session_id)s)
ON CONFLICT DO NOTHING;

-- name: delete_session
-- Facts are deleted with the last message that states them.
DELETE FROM memory
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND kind IN ('episode', 'note');
