SELECT
    entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases,
    entity.documents::double precision AS score
FROM entity
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (%(entity_type)s::text IS NULL OR entity.entity_type = %(entity_type)s)
    AND entity.mentions >= %(min_mentions)s
ORDER BY entity.documents DESC, entity.id
LIMIT %(limit)s
