SELECT source_id, target_id, relation_type, weight, evidence
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND (source_id, target_id, relation_type) > (%(source_id)s, %(target_id)s, %(relation_type)s)
ORDER BY source_id, target_id, relation_type
LIMIT %(limit)s
