-- Every entity that is linked with one of the ids, in either direction.
SELECT source_id AS origin, target_id AS other
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = ANY(%(ids)s)
    AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]))
UNION
SELECT target_id AS origin, source_id AS other
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND target_id = ANY(%(ids)s)
    AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]))
