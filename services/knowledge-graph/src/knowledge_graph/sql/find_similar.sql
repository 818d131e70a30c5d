SELECT
    entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases,
    'fuzzy' AS how, found.similarity
FROM similar_entities(%(key)s, %(limit)s) AS found
INNER JOIN entity ON entity.workspace_id = %(workspace_id)s AND entity.id = found.id
ORDER BY found.similarity DESC, entity.mentions DESC, entity.id
