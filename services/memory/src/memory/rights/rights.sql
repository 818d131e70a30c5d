-- name: texts
-- Returns a user's memories with all text in their rows: those with the ids, or that match the pattern.
SELECT memory.id, concat_ws(E'\n', memory.content, episode.speaker, about.told) AS text
FROM memory
LEFT JOIN episode ON episode.workspace_id = memory.workspace_id AND episode.id = memory.id
LEFT JOIN LATERAL (
    -- "user" is the service's own word for the subject, not one that was said.
    SELECT concat_ws(E'\n', regexp_replace(fact.subject, '^user(''s )?', ''), fact.object, fact.phrase) AS told
    FROM fact WHERE fact.workspace_id = memory.workspace_id AND fact.id = memory.id
) AS about ON true
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.created_by = %(user_id)s
    AND (%(ids)s::uuid[] IS NULL OR memory.id = ANY(%(ids)s::uuid[]))
    AND (
        %(pattern)s::text IS NULL
        OR concat_ws(E'\n', memory.content, episode.speaker, about.told) ILIKE %(pattern)s
    );

-- name: of_session
-- Returns messages and notes of a session of the user; facts are deleted with the last message that states them.
SELECT id FROM memory
WHERE
    workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND session_id = %(session_id)s
    AND kind IN ('episode', 'note');

-- name: owned
-- Returns which of the memories are the user's.
SELECT id FROM memory
WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND id = ANY(%(ids)s::uuid[]);

-- name: answering
-- Returns the user's facts with a predicate about a subject, by any of its names, whenever they held.
SELECT id FROM fact
WHERE
    workspace_id = %(workspace_id)s AND user_id = %(user_id)s AND predicate = %(predicate)s
    AND lower(subject) = ANY(%(subjects)s::text[]);

-- name: transcripts
-- Counts the messages of turns among the memories, and names their sessions.
SELECT count(*) AS messages, coalesce(array_agg(DISTINCT memory.session_id), '{{}}') AS sessions
FROM memory
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.id = ANY(%(ids)s::uuid[]) AND memory.kind = 'episode'
    AND memory.session_id IS NOT NULL AND memory.run_id IS NOT NULL;

-- name: stating
-- Returns the messages that state facts.
SELECT DISTINCT source.episode_id FROM fact_source AS source
WHERE source.workspace_id = %(workspace_id)s AND source.fact_id = ANY(%(ids)s::uuid[]);

-- name: unstated
-- Returns facts that no other message states.
SELECT source.fact_id FROM fact_source AS source
WHERE
    source.workspace_id = %(workspace_id)s
    AND source.fact_id IN (
        SELECT stated.fact_id FROM fact_source AS stated
        WHERE stated.workspace_id = %(workspace_id)s AND stated.episode_id = ANY(%(ids)s::uuid[])
    )
GROUP BY source.fact_id
HAVING bool_and(source.episode_id = ANY(%(ids)s::uuid[]));

-- name: repeating
-- Returns the user's messages that repeat the text of facts among the ids, such as answers.
SELECT DISTINCT memory.id
FROM memory
JOIN memory AS told
    ON told.workspace_id = memory.workspace_id AND told.id = ANY(%(ids)s::uuid[]) AND told.kind <> 'episode'
    AND length(told.content) >= 8
    AND position(lower(rtrim(told.content, '.!')) IN lower(memory.content)) > 0
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.created_by = %(user_id)s AND memory.kind = 'episode'
    AND NOT memory.id = ANY(%(ids)s::uuid[]);

-- name: counts
-- Counts what is deleted with memories, by table, and their vectors and postings.
SELECT
    count(*) AS memory,
    count(memory.embedding) AS vectors,
    count(memory.terms) AS postings,
    (
        SELECT count(*) FROM episode
        WHERE episode.workspace_id = %(workspace_id)s AND episode.id = ANY(%(ids)s::uuid[])
    ) AS episode,
    (SELECT count(*) FROM fact WHERE fact.workspace_id = %(workspace_id)s AND fact.id = ANY(%(ids)s::uuid[])) AS fact,
    (
        SELECT count(*) FROM fact_source AS source
        WHERE
            source.workspace_id = %(workspace_id)s
            AND (source.fact_id = ANY(%(ids)s::uuid[]) OR source.episode_id = ANY(%(ids)s::uuid[]))
    ) AS fact_source,
    (
        SELECT count(*) FROM memory_source AS source
        WHERE source.workspace_id = %(workspace_id)s AND source.memory_id = ANY(%(ids)s::uuid[])
    ) AS memory_source
FROM memory
WHERE memory.workspace_id = %(workspace_id)s AND memory.id = ANY(%(ids)s::uuid[]);

-- name: listed
-- Returns the newest of the memories, newest first.
SELECT {columns} FROM memory
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s::uuid[])
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: too_old
-- Returns messages and notes that are older than the workspace wants to keep, of the user who has the oldest. Messages
-- that state a pinned fact stay.
WITH old AS (
    SELECT memory.id, memory.created_by, memory.created_at
    FROM memory
    JOIN retention_rule AS rule USING (workspace_id)
    WHERE
        memory.workspace_id = %(workspace_id)s AND NOT memory.pinned AND memory.kind IN ('episode', 'note')
        AND memory.created_at < now() - make_interval(days => rule.days)
        AND NOT EXISTS (
            SELECT FROM fact_source AS source
            JOIN memory AS stated ON stated.workspace_id = source.workspace_id AND stated.id = source.fact_id
            WHERE source.workspace_id = memory.workspace_id AND source.episode_id = memory.id AND stated.pinned
        )
    ORDER BY memory.created_at, memory.id
    LIMIT %(limit)s
)
SELECT old.id, old.created_by AS user_id, old.created_at FROM old
WHERE old.created_by = (SELECT first.created_by FROM old AS first ORDER BY first.created_at, first.id LIMIT 1);

-- name: runs
-- Returns the runs that answered the user's messages among the ids, by session.
SELECT memory.session_id, array_agg(DISTINCT memory.run_id) AS run_ids
FROM memory
JOIN episode AS said ON said.workspace_id = memory.workspace_id AND said.id = memory.id
WHERE
    memory.workspace_id = %(workspace_id)s AND memory.id = ANY(%(ids)s::uuid[]) AND said.role = 'user'
    AND memory.run_id IS NOT NULL AND memory.session_id IS NOT NULL
GROUP BY memory.session_id;

-- name: own_worlds
-- Returns the user's sessions that have a world.
SELECT id FROM world WHERE workspace_id = %(workspace_id)s AND owner_id = %(user_id)s ORDER BY created_at, id;

-- name: own_world_events
-- Returns the events of the user's sessions, and the user's own in the workspace's world, in order.
SELECT world_id, {event_columns} FROM world_event
WHERE workspace_id = %(workspace_id)s AND (owner_id = %(user_id)s OR created_by = %(user_id)s)
ORDER BY world_id, version;

-- name: retaining
SELECT workspace_id FROM retention_rule ORDER BY workspace_id;
