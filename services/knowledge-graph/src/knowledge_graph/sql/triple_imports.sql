SELECT id, name, format, triples, entities, relations, aliases, notes, created_by, created_at, updated_at
FROM triple_import
WHERE
    workspace_id = %(workspace_id)s
    AND (%(id)s::uuid IS NULL OR id = %(id)s::uuid)
    AND (%(after)s::text IS NULL OR name > %(after)s::text)
ORDER BY name
LIMIT %(limit)s
