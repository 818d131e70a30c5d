-- name: revision
SELECT revision, removed_at_revision FROM owner_revision
WHERE workspace_id = %(workspace_id)s AND user_id = %(user_id)s;

-- name: changed
-- Returns memories added or changed after a revision, in the order in which they were added, without answers that say
-- nothing.
SELECT
    memory.id, memory.kind, memory.session_id, coalesce(episode.speaker, '') AS speaker, memory.said_at,
    memory.content, memory.terms, memory.pieces,
    CASE
        WHEN memory.embedding_model = %(model)s AND vector_dims(memory.embedding) = %(dims)s
            THEN vector_send(memory.embedding)
    END AS embedding
FROM memory
LEFT JOIN episode ON episode.workspace_id = memory.workspace_id AND episode.id = memory.id
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.created_by = %(user_id)s AND memory.revision > %(after)s
    AND memory.terms IS NOT NULL AND episode.says_nothing IS NOT TRUE
ORDER BY memory.created_at, episode.position, memory.revision, memory.id;

-- name: unprepared
-- Counts memories whose terms are not computed yet.
SELECT count(*) FROM memory
WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND terms IS NULL;

-- name: candidates
-- Returns which of the memories are the user's and in the scope; of facts, those that hold at a time. A message is
-- superseded if all facts that it states are over by then.
SELECT
    {columns},
    EXISTS (
        SELECT FROM fact_source AS source
        JOIN fact AS stated ON stated.workspace_id = source.workspace_id AND stated.id = source.fact_id
        WHERE source.workspace_id = memory.workspace_id AND source.episode_id = memory.id
        HAVING count(*) > 0 AND bool_and(stated.valid_to IS NOT NULL AND stated.valid_to <= %(as_of)s)
    ) AS superseded
FROM memory
LEFT JOIN fact ON fact.workspace_id = memory.workspace_id AND fact.id = memory.id
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.created_by = %(user_id)s AND memory.id = ANY(%(ids)s::uuid[])
    AND (%(scope)s::text IS NULL OR memory.scope = %(scope)s)
    AND (memory.scope <> 'session' OR %(session_id)s::uuid IS NULL OR memory.session_id = %(session_id)s)
    AND (
        fact.id IS NULL
        OR fact.approved AND fact.valid_from <= %(as_of)s AND (fact.valid_to IS NULL OR fact.valid_to > %(as_of)s)
    )
    AND (fact.id IS NOT NULL OR NOT %(past)s OR memory.said_at <= %(as_of)s);

-- name: neighbours
-- Returns the messages right before and after others, of the same session.
SELECT DISTINCT ON (near.id)
    found.id AS of, near.id, near.position, near.speaker, memory.content
FROM episode AS found
JOIN episode AS near
    ON near.workspace_id = found.workspace_id AND near.session_id = found.session_id
    AND near.position BETWEEN found.position - 1 AND found.position + 1 AND near.id <> found.id
JOIN memory ON memory.workspace_id = near.workspace_id AND memory.id = near.id
WHERE
    found.workspace_id = %(workspace_id)s AND found.id = ANY(%(ids)s::uuid[]) AND NOT near.id = ANY(%(ids)s::uuid[])
    AND memory.created_by = %(user_id)s AND NOT near.says_nothing
ORDER BY near.id, array_position(%(ids)s::uuid[], found.id);
