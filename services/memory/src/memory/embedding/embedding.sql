-- name: lacking
-- Returns memories that the model has not embedded, or whose terms are not computed, each with the message before it.
-- Lateral joins look each up by key: right after an import, PostgreSQL has no statistics for a good plan.
WITH lacking AS MATERIALIZED (
    SELECT id, content FROM memory
    WHERE
        workspace_id = %(workspace_id)s AND created_by = %(user_id)s
        AND (embedding_model IS DISTINCT FROM %(model)s OR terms IS NULL)
    LIMIT %(limit)s
)
SELECT
    lacking.id, lacking.content, coalesce(own.speaker, '') AS speaker, before.content AS before_content,
    earlier.speaker AS before_speaker
FROM lacking
LEFT JOIN LATERAL (
    SELECT episode.session_id, episode.position, episode.speaker FROM episode
    WHERE episode.workspace_id = %(workspace_id)s AND episode.id = lacking.id
    LIMIT 1
) AS own ON true
LEFT JOIN LATERAL (
    SELECT episode.id, episode.speaker FROM episode
    WHERE
        episode.workspace_id = %(workspace_id)s AND episode.session_id = own.session_id
        AND episode.position = own.position - 1
    LIMIT 1
) AS earlier ON true
LEFT JOIN LATERAL (
    SELECT memory.content FROM memory
    WHERE memory.workspace_id = %(workspace_id)s AND memory.id = earlier.id
    LIMIT 1
) AS before ON true;

-- name: lock_owner
-- Locks the owner's revision before the embedding work, in the same order as all other writers.
SELECT revision FROM owner_revision
WHERE workspace_id = %(workspace_id)s AND user_id = %(user_id)s
FOR UPDATE;

-- name: fill
WITH counted AS (
    UPDATE owner_revision AS owner SET revision = owner.revision + 1
    WHERE owner.workspace_id = %(workspace_id)s AND owner.user_id = %(user_id)s
    RETURNING revision
)
UPDATE memory
SET
    terms = %(terms)s::text[], pieces = %(pieces)s::bytea, embedding_model = %(model)s,
    embedding = %(embedding)s::vector, revision = counted.revision
FROM counted
WHERE memory.workspace_id = %(workspace_id)s AND memory.id = %(id)s AND memory.content = %(content)s;
