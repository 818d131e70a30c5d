-- name: entities
SELECT id, name_key, name, entity_type, mentions, documents, aliases
FROM entity
WHERE workspace_id = %(workspace_id)s AND mentions >= %(min_mentions)s AND id > %(after)s
ORDER BY id
LIMIT %(limit)s;

-- name: relations
SELECT source_id, target_id, relation_type, weight, evidence
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND (source_id, target_id, relation_type) > (%(after_source)s, %(after_target)s, %(after_type)s)
ORDER BY source_id, target_id, relation_type
LIMIT %(limit)s;
