-- By key: entities whose names are written nearly so, concepts left out.
SELECT
    wanted.key, found.similarity,
    entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases
FROM unnest(%(keys)s::text[]) AS wanted (key)
CROSS JOIN LATERAL similar_entities(wanted.key, %(most)s) AS found
CROSS JOIN LATERAL (
    SELECT * FROM entity WHERE entity.workspace_id = %(workspace_id)s AND entity.id = found.id LIMIT 1
) AS entity
WHERE entity.entity_type <> 'CONCEPT'
ORDER BY wanted.key, found.similarity DESC, entity.mentions DESC, entity.id
