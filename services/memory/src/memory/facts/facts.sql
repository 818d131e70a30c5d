-- name: writing
-- Returns how the workspace keeps facts.
SELECT writing FROM memory_settings WHERE workspace_id = %(workspace_id)s;

-- name: set_writing
INSERT INTO memory_settings (workspace_id, writing) VALUES (%(workspace_id)s, %(writing)s)
ON CONFLICT (workspace_id) DO UPDATE SET writing = excluded.writing;

-- name: retention_days
SELECT days FROM retention_rule WHERE workspace_id = %(workspace_id)s;

-- name: keep_forever
DELETE FROM retention_rule WHERE workspace_id = %(workspace_id)s;

-- name: keep_for
INSERT INTO retention_rule (workspace_id, days) VALUES (%(workspace_id)s, %(days)s)
ON CONFLICT (workspace_id) DO UPDATE SET days = excluded.days;

-- name: known
-- Returns the facts that hold at a time or later, latest said first.
SELECT
    fact.id, fact.subject, fact.predicate, fact.object, fact.valid_from, fact.valid_to, fact.supersedes,
    memory.session_id
FROM fact
JOIN memory USING (workspace_id, id)
WHERE
    fact.workspace_id = %(workspace_id)s AND fact.user_id = %(user_id)s
    AND (lower(fact.subject) = ANY(%(subjects)s::text[]) OR %(all)s)
    AND (fact.valid_to IS NULL OR fact.valid_to > %(at)s) AND fact.valid_to IS DISTINCT FROM fact.valid_from
ORDER BY memory.said_at DESC, memory.created_at DESC, fact.id
LIMIT 200;

-- name: insert
INSERT INTO fact (
    workspace_id, id, user_id, subject, predicate, object, phrase, valid_from, valid_to, supersedes, conflicts_with,
    approved
)
VALUES (
    %(workspace_id)s, %(id)s, %(user_id)s, %(subject)s, %(predicate)s, %(object)s, %(phrase)s, %(valid_from)s,
    %(valid_to)s, %(supersedes)s, %(conflicts_with)s, %(approved)s
);

-- name: insert_source
INSERT INTO fact_source (workspace_id, fact_id, episode_id) VALUES (%(workspace_id)s, %(fact_id)s, %(episode_id)s)
ON CONFLICT DO NOTHING;

-- name: close
UPDATE fact SET valid_to = %(valid_to)s, expired_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: restate
UPDATE fact SET subject = %(subject)s, predicate = %(predicate)s, object = %(object)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND user_id = %(user_id)s;

-- name: reopen
UPDATE fact SET valid_to = NULL, expired_at = NULL
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND user_id = %(user_id)s;

-- name: approve
-- Approves a fact; the one it replaces ends when it begins.
WITH approved AS (
    UPDATE fact SET approved = true
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND user_id = %(user_id)s
    RETURNING supersedes, valid_from
),
closed AS (
    UPDATE fact AS earlier
    SET valid_to = greatest(earlier.valid_from, approved.valid_from), expired_at = now()
    FROM approved
    WHERE earlier.workspace_id = %(workspace_id)s AND earlier.id = approved.supersedes AND earlier.valid_to IS NULL
)
SELECT count(*) FROM approved;

-- name: holding
-- Returns the approved facts of a user that held at a time, latest first.
SELECT
    memory.id, memory.kind, memory.content, fact.subject, fact.predicate, fact.object, fact.valid_from, fact.valid_to,
    memory.said_at,
    coalesce((
        SELECT said.speaker FROM fact_source AS source
        JOIN episode AS said ON said.workspace_id = source.workspace_id AND said.id = source.episode_id
        WHERE source.workspace_id = fact.workspace_id AND source.fact_id = fact.id
        ORDER BY said.position LIMIT 1
    ), '') AS speaker
FROM fact
JOIN memory USING (workspace_id, id)
WHERE
    fact.workspace_id = %(workspace_id)s AND fact.user_id = %(user_id)s AND fact.approved
    AND fact.valid_from <= %(as_of)s AND (fact.valid_to IS NULL OR fact.valid_to > %(as_of)s)
    AND (
        %(predicates)s::text[] IS NULL
        OR fact.predicate = ANY(%(predicates)s::text[])
        AND (
            lower(fact.subject) = ANY(%(subjects)s::text[])
            OR starts_with(fact.subject, %(owned)s::text)
            AND substr(fact.subject, length(%(owned)s::text) + 1, 1) ~ '[[:upper:]]'
            OR starts_with(fact.subject, 'user''s ')
            AND right(fact.subject, length(%(named)s::text) + 1) = ' ' || %(named)s::text
        )
    )
ORDER BY fact.valid_from DESC, memory.said_at DESC, memory.id
LIMIT %(limit)s;
