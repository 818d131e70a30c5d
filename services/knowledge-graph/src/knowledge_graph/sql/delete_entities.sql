-- Those without an own mention. What is left of them are mentions of nothing.
DELETE FROM entity
WHERE
    workspace_id = %(workspace_id)s
    AND id = ANY(%(ids)s)
    AND NOT EXISTS (
        SELECT FROM name
        WHERE name.workspace_id = %(workspace_id)s AND name.entity_id = entity.id AND name.own > 0
    )
