DELETE FROM entity
WHERE
    workspace_id = %(workspace_id)s
    AND id = ANY(%(ids)s)
    AND NOT EXISTS (
        SELECT FROM mention WHERE mention.workspace_id = %(workspace_id)s AND mention.entity_id = entity.id
    )
