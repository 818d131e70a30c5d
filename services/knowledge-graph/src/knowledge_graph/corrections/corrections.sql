-- name: page
SELECT {columns}
FROM correction
WHERE
    workspace_id = %(workspace_id)s
    AND (%(id)s::uuid IS NULL OR id = %(id)s::uuid)
    AND (%(created_at)s::timestamptz IS NULL OR (created_at, id) < (%(created_at)s::timestamptz, %(after)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: record
INSERT INTO correction (
    workspace_id, id, kind, entity_id, entity, other, relation_type, entity_type, status, dated, reason, created_by
)
VALUES (
    %(workspace_id)s, %(id)s, %(kind)s, %(entity_id)s, %(entity)s, %(other)s, %(relation_type)s, %(entity_type)s,
    %(status)s, %(dated)s, %(reason)s, %(created_by)s
)
RETURNING {columns};

-- name: delete
DELETE FROM correction WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: is_stated
-- Whether anything other than a correction states the fact, or a subtype of it, in any status.
SELECT EXISTS (
    SELECT FROM relation_evidence
    WHERE
        workspace_id = %(workspace_id)s
        AND source_id = %(source_id)s
        AND target_id = %(target_id)s
        AND relation_type = ANY(%(types)s)
        AND method <> 'correction'
);

-- name: joined
-- A statement that one of these names is an alias, if they all stand for one entity.
SELECT stated.alias_id, stated.alias_key, stated.alias, stated.target_id, stated.target_key, stated.target
FROM alias_evidence AS stated
INNER JOIN name ON name.workspace_id = %(workspace_id)s AND name.id = stated.alias_id
INNER JOIN name AS other ON other.workspace_id = %(workspace_id)s AND other.id = stated.target_id
WHERE
    stated.workspace_id = %(workspace_id)s
    AND stated.alias_id = ANY(%(ids)s)
    AND stated.method NOT IN ('split', 'correction')
    AND name.entity_id = other.entity_id
    AND (SELECT count(DISTINCT one.entity_id) FROM name AS one WHERE one.workspace_id = %(workspace_id)s AND one.id = ANY(%(ids)s)) = 1
ORDER BY stated.alias_id, stated.target_id
LIMIT 1;
