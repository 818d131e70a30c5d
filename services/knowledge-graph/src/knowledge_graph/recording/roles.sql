-- name: own_types
SELECT id, own_type FROM entity WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: neighbours
-- The list of types is that of the indexes.
SELECT target_id FROM relation_evidence
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = ANY(%(ids)s)
    AND relation_type IN ('CALLS', 'DEPENDS_ON', 'OWNS', 'READS', 'USES', 'WRITES')
UNION
SELECT source_id FROM relation_evidence
WHERE
    workspace_id = %(workspace_id)s
    AND target_id = ANY(%(ids)s)
    AND relation_type IN ('CALLS', 'DEPENDS_ON', 'OWNS', 'READS', 'USES', 'WRITES');

-- name: typeable
-- Nothing tells against a person's correction.
SELECT id, name, own_type
FROM entity
WHERE
    workspace_id = %(workspace_id)s
    AND id = ANY(%(ids)s)
    AND own_type = ANY(%(open)s)
    AND NOT EXISTS (
        SELECT FROM correction
        INNER JOIN name AS corrected
            ON corrected.workspace_id = %(workspace_id)s AND corrected.id = correction.entity_id
        WHERE
            correction.workspace_id = %(workspace_id)s
            AND correction.kind = 'type'
            AND corrected.entity_id = entity.id
    );

-- name: roles
-- Past and planned statements tell what a thing is, too; denials do not. The ids are an array in both branches, as a join
-- is planned with the statistics from before the document.
WITH said AS (
    SELECT target_id AS id, false AS is_source, source_id AS other_id, relation_type, phrase
    FROM relation_evidence
    WHERE
        workspace_id = %(workspace_id)s
        AND target_id = ANY(%(ids)s)
        AND relation_type IN ('CALLS', 'DEPENDS_ON', 'OWNS', 'READS', 'USES', 'WRITES')
        AND status <> 'negated'
    UNION ALL
    SELECT source_id, true, target_id, relation_type, phrase
    FROM relation_evidence
    WHERE
        workspace_id = %(workspace_id)s
        AND source_id = ANY(%(ids)s)
        AND relation_type IN ('CALLS', 'DEPENDS_ON', 'OWNS', 'READS', 'USES', 'WRITES')
        AND status <> 'negated'
)
SELECT
    said.id, said.is_source, other.name AS other, other.own_type AS other_type, said.relation_type, said.phrase,
    count(*)::integer AS times
FROM said
INNER JOIN entity AS other ON other.workspace_id = %(workspace_id)s AND other.id = said.other_id
GROUP BY said.id, said.is_source, other.id, other.name, other.own_type, said.relation_type, said.phrase;

-- name: type
UPDATE entity SET entity_type = coalesce(told.entity_type, entity.own_type)
FROM unnest(%(ids)s::text[], %(types)s::text[]) AS told (id, entity_type)
WHERE
    entity.workspace_id = %(workspace_id)s
    AND entity.id = told.id
    AND entity.entity_type <> coalesce(told.entity_type, entity.own_type)
RETURNING entity.id;
