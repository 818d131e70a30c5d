SELECT DISTINCT target_id AS id
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = %(id)s
    AND target_id = ANY(%(among)s)
    AND relation_type = ANY(%(types)s)
ORDER BY target_id
