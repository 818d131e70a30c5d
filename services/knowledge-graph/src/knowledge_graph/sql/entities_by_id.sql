SELECT entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases
FROM entity
WHERE entity.workspace_id = %(workspace_id)s AND entity.id = ANY(%(ids)s)
ORDER BY entity.id
