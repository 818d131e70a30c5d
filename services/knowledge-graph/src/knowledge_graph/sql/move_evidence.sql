-- What a relation shows is found by its ends before; what linked an entity with itself shows none.
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
SELECT old_source_id, old_target_id FROM changed
UNION
SELECT source_id, target_id FROM changed
