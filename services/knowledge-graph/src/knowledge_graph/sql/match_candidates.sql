-- Makes the mentions of known names in some chunks what they should be: each candidate of a known name, unless it lies
-- inside a longer one. Returns what changed.
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
GROUP BY document_id, entity_id, surface, surface_key
