-- name: lacking
-- Returns memories that the model has not embedded, or whose words are not known, each with the message before it.
SELECT
    memory.id, memory.content, coalesce(episode.speaker, '') AS speaker, before.content AS before_content,
    before.speaker AS before_speaker
FROM memory
LEFT JOIN episode ON episode.workspace_id = memory.workspace_id AND episode.id = memory.id
LEFT JOIN LATERAL (
    SELECT said.content, earlier.speaker
    FROM episode AS earlier
    JOIN memory AS said ON said.workspace_id = earlier.workspace_id AND said.id = earlier.id
    WHERE
        earlier.workspace_id = episode.workspace_id AND earlier.session_id = episode.session_id
        AND earlier.position = episode.position - 1
) AS before ON true
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.created_by = %(user_id)s
    AND (memory.embedding_model IS DISTINCT FROM %(model)s OR memory.terms IS NULL)
LIMIT %(limit)s;

-- name: lock_owner
-- As everybody who writes memories does: the owner's revision is locked before the work of embedding.
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
