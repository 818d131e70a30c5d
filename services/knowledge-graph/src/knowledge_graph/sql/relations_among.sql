SELECT source_id, target_id, relation_type, weight, evidence
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = ANY(%(ids)s)
    AND target_id = ANY(%(ids)s)
    AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]))
ORDER BY weight DESC, source_id, target_id, relation_type
LIMIT %(limit)s
