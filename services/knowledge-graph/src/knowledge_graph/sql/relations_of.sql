SELECT source_id, target_id, relation_type, weight, evidence
FROM (
    (
        SELECT * FROM relation
        WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s
        ORDER BY weight DESC, target_id, relation_type
        LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT * FROM relation
        WHERE workspace_id = %(workspace_id)s AND target_id = %(id)s
        ORDER BY weight DESC, source_id, relation_type
        LIMIT %(limit)s
    )
) AS either
ORDER BY weight DESC, source_id, target_id, relation_type
LIMIT %(limit)s
