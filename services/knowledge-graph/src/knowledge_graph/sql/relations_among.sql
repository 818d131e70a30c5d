SELECT source_id, target_id, relation_type, weight, evidence
FROM relation
WHERE workspace_id = %(workspace_id)s AND source_id = ANY(%(ids)s) AND target_id = ANY(%(ids)s)
