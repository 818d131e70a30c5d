-- name: write
INSERT INTO name (workspace_id, id, hash, name_key, entity_id, own, evidence)
SELECT %(workspace_id)s, rows.id, rows.hash, rows.name_key, rows.id, rows.own, rows.evidence
FROM unnest(
    %(ids)s::text[], %(hashes)s::bigint[], %(name_keys)s::text[], %(owns)s::integer[], %(evidences)s::integer[]
) AS rows (id, hash, name_key, own, evidence)
ON CONFLICT (workspace_id, id) DO UPDATE SET
    own = name.own + excluded.own, evidence = name.evidence + excluded.evidence;

-- name: of_entities
-- All names of the entities, and whether their entity has a mention of its own.
SELECT
    id, hash, entity_id, own, evidence, is_known, is_widespread,
    sum(own) OVER (PARTITION BY entity_id) > 0 AS is_alive
FROM name
WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s);

-- name: count_known
-- Updates the number of chunks with candidates of known names; returns the names whose mark has to change.
WITH counted AS (
    UPDATE name SET chunks = name.chunks + changed.chunks
    FROM unnest(%(hashes)s::bigint[], %(chunks)s::integer[]) AS changed (hash, chunks)
    WHERE name.workspace_id = %(workspace_id)s AND name.hash = changed.hash AND name.is_known
    RETURNING name.id, name.hash, name.chunks, name.is_widespread
)
SELECT id, hash, chunks FROM counted WHERE (chunks > %(most)s) <> is_widespread;

-- name: mark
UPDATE name SET is_known = marked.is_known, chunks = marked.chunks, is_widespread = marked.is_widespread
FROM unnest(
    %(ids)s::text[], %(knowns)s::boolean[], %(chunks)s::integer[], %(widespreads)s::boolean[]
) AS marked (id, is_known, chunks, is_widespread)
WHERE name.workspace_id = %(workspace_id)s AND name.id = marked.id;

-- name: chunks_to_match
SELECT document_id, first_number
FROM candidates
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
UNION
SELECT document_id, first_number FROM chunks_with_candidates(%(hashes)s::bigint[]);

-- name: match_candidates
-- Brings the mentions of known names in these chunks up to date: every candidate of a known name, unless it lies inside
-- a longer one. Returns what changed.
WITH word AS (
    SELECT
        candidates.document_id,
        candidates.first_number,
        candidates.chunk_id,
        -(candidates.first_number + one.place)::integer AS number,
        one.*
    FROM unnest(%(document_ids)s::uuid[], %(first_numbers)s::integer[]) AS chunk (document_id, first_number)
    INNER JOIN candidates
        ON candidates.workspace_id = %(workspace_id)s
        AND candidates.document_id = chunk.document_id
        AND candidates.first_number = chunk.first_number
    CROSS JOIN LATERAL unnest(
        candidates.hashes, candidates.surfaces, candidates.starts, candidates.ends, candidates.sentence_starts,
        candidates.sentence_ends
    ) WITH ORDINALITY AS one (hash, surface, span_start, span_end, sentence_start, sentence_end, place)
),
found AS MATERIALIZED (
    SELECT word.*, name.id AS name_id, name.name_key, name.entity_id
    FROM word
    INNER JOIN name
        ON name.workspace_id = %(workspace_id)s
        AND name.hash = word.hash
        AND name.is_known
        AND NOT name.is_widespread
),
wanted AS MATERIALIZED (
    SELECT *
    FROM (
        SELECT
            *,
            max(span_end) OVER longer_first AS furthest
        FROM found
        WINDOW longer_first AS (
            PARTITION BY document_id, first_number
            ORDER BY span_start, span_end DESC, name_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
    ) AS placed
    WHERE furthest IS NULL OR span_end > furthest
),
gone AS (
    DELETE FROM mention
    USING (SELECT DISTINCT document_id, chunk_id FROM word) AS chunk
    WHERE
        mention.workspace_id = %(workspace_id)s
        AND mention.document_id = chunk.document_id
        AND mention.chunk_id = chunk.chunk_id
        AND mention.origin = 'known'
        AND NOT EXISTS (
            SELECT FROM wanted
            WHERE wanted.document_id = mention.document_id AND wanted.number = mention.number
        )
    RETURNING mention.document_id, mention.entity_id, mention.surface, mention.surface_key
),
added AS (
    INSERT INTO mention (
        workspace_id, document_id, number, entity_id, name_id, name_key, chunk_id, surface, surface_key, entity_type,
        span_start, span_end, sentence_start, sentence_end, origin
    )
    SELECT
        %(workspace_id)s, document_id, number, entity_id, name_id, name_key, chunk_id, surface, name_key, '',
        span_start, span_end, sentence_start, sentence_end, 'known'
    FROM wanted
    ON CONFLICT DO NOTHING
    RETURNING document_id, entity_id, surface, surface_key
)
SELECT document_id, entity_id, surface, surface_key, sum(change)::integer AS uses
FROM (
    SELECT *, 1 AS change FROM added
    UNION ALL
    SELECT *, -1 AS change FROM gone
) AS changed
GROUP BY document_id, entity_id, surface, surface_key;

-- name: aliases
SELECT DISTINCT alias_id FROM alias_evidence WHERE workspace_id = %(workspace_id)s AND target_id = ANY(%(ids)s);

-- name: alias_edges
-- The stated targets of the aliases; resolution follows an edge only if there is a single target. A user's merge
-- overrides the others, and what a user split is no edge.
SELECT
    alias_id,
    coalesce(min(target_id) FILTER (WHERE method = 'correction'), min(target_id)) AS target_id,
    CASE
        WHEN bool_or(method = 'correction') THEN count(DISTINCT target_id) FILTER (WHERE method = 'correction')
        ELSE count(DISTINCT target_id)
    END AS targets
FROM alias_evidence AS stated
WHERE
    workspace_id = %(workspace_id)s
    AND alias_id = ANY(%(ids)s)
    AND method <> 'split'
    AND NOT EXISTS (
        SELECT FROM alias_evidence AS split
        WHERE
            split.workspace_id = %(workspace_id)s
            AND split.alias_id = stated.alias_id
            AND split.target_id = stated.target_id
            AND split.method = 'split'
    )
GROUP BY alias_id;

-- name: resolve
WITH resolved AS (
    SELECT * FROM unnest(%(ids)s::text[], %(entity_ids)s::text[]) AS rows (id, entity_id)
),
before AS (
    SELECT name.id, name.entity_id
    FROM name INNER JOIN resolved ON resolved.id = name.id
    WHERE name.workspace_id = %(workspace_id)s AND name.entity_id <> resolved.entity_id
),
changed AS (
    UPDATE name SET entity_id = resolved.entity_id
    FROM before INNER JOIN resolved ON resolved.id = before.id
    WHERE name.workspace_id = %(workspace_id)s AND name.id = before.id
    RETURNING name.id, before.entity_id AS old_id, name.entity_id AS new_id
)
SELECT id, old_id, new_id FROM changed;

-- name: move_mentions
WITH moved AS (
    SELECT * FROM unnest(%(ids)s::text[], %(olds)s::text[], %(news)s::text[]) AS rows (id, old_id, new_id)
),
changed AS (
    UPDATE mention SET entity_id = moved.new_id
    FROM moved
    WHERE
        mention.workspace_id = %(workspace_id)s
        AND mention.entity_id = moved.old_id
        AND mention.name_id = moved.id
    RETURNING mention.document_id, moved.old_id, moved.new_id
)
SELECT DISTINCT document_id, old_id, new_id FROM changed;

-- name: move_evidence
-- Most pairs are found by their ends in `relation`. That misses evidence between an entity and itself, and evidence
-- that is not current.
WITH moved AS (
    SELECT DISTINCT id FROM unnest(%(olds)s::text[]) AS rows (id)
),
pair AS (
    SELECT relation.source_id, relation.target_id
    FROM moved
    INNER JOIN relation ON relation.workspace_id = %(workspace_id)s AND relation.source_id = moved.id
    UNION
    SELECT relation.source_id, relation.target_id
    FROM moved
    INNER JOIN relation ON relation.workspace_id = %(workspace_id)s AND relation.target_id = moved.id
    UNION
    SELECT id, id FROM moved
    UNION
    SELECT found.source_id, found.target_id
    FROM moved
    INNER JOIN relation_evidence AS found
        ON found.workspace_id = %(workspace_id)s
        AND found.source_id = moved.id
        AND (found.status <> 'current' OR found.closed_by IS NOT NULL)
    UNION
    SELECT found.source_id, found.target_id
    FROM moved
    INNER JOIN relation_evidence AS found
        ON found.workspace_id = %(workspace_id)s
        AND found.target_id = moved.id
        AND (found.status <> 'current' OR found.closed_by IS NOT NULL)
),
resolved AS (
    SELECT
        found.document_id,
        found.number,
        found.source_id AS old_source_id,
        found.target_id AS old_target_id,
        CASE found.relation_type
            WHEN 'CO_OCCURS' THEN least(source.entity_id, target.entity_id) ELSE source.entity_id
        END AS source_id,
        CASE found.relation_type
            WHEN 'CO_OCCURS' THEN greatest(source.entity_id, target.entity_id) ELSE target.entity_id
        END AS target_id
    FROM pair
    INNER JOIN relation_evidence AS found
        ON found.workspace_id = %(workspace_id)s
        AND found.source_id = pair.source_id
        AND found.target_id = pair.target_id
    INNER JOIN name AS source ON source.workspace_id = %(workspace_id)s AND source.id = found.source_name_id
    INNER JOIN name AS target ON target.workspace_id = %(workspace_id)s AND target.id = found.target_name_id
),
changed AS (
    UPDATE relation_evidence AS found SET source_id = resolved.source_id, target_id = resolved.target_id
    FROM resolved
    WHERE
        found.workspace_id = %(workspace_id)s
        AND found.document_id = resolved.document_id
        AND found.number = resolved.number
        AND (found.source_id, found.target_id) <> (resolved.source_id, resolved.target_id)
    RETURNING resolved.old_source_id, resolved.old_target_id, resolved.source_id, resolved.target_id
)
SELECT old_source_id AS source_id, old_target_id AS target_id FROM changed
UNION
SELECT source_id, target_id FROM changed;

-- name: entity_ids
SELECT DISTINCT entity_id FROM name WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: count_candidates
SELECT hash, chunks FROM count_candidates(%(hashes)s::bigint[]);

-- name: delete
DELETE FROM name WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);
