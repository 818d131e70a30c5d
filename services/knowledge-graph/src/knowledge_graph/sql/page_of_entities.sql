SELECT id, name_key, name, entity_type, mentions, documents, aliases, outgoing, incoming
FROM entity
WHERE workspace_id = %(workspace_id)s AND id > %(after)s
ORDER BY id
LIMIT %(limit)s
