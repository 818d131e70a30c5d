SELECT entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases
FROM entity
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (%(prefix)s::text IS NULL OR (entity.name_key >= %(prefix)s AND entity.name_key < %(after_prefix)s))
    AND (%(entity_type)s::text IS NULL OR entity.entity_type = %(entity_type)s)
    AND entity.mentions >= %(min_mentions)s
    AND (
        %(after_mentions)s::bigint IS NULL
        OR entity.mentions < %(after_mentions)s
        OR (entity.mentions = %(after_mentions)s AND entity.id > %(after_id)s)
    )
ORDER BY entity.mentions DESC, entity.id
LIMIT %(limit)s
