UPDATE entity SET
    outgoing = (
        SELECT count(*) FROM relation
        WHERE relation.workspace_id = entity.workspace_id AND relation.source_id = entity.id
    ),
    incoming = (
        SELECT count(*) FROM relation
        WHERE relation.workspace_id = entity.workspace_id AND relation.target_id = entity.id
    )
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s)
