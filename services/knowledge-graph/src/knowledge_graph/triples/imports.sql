-- name: page
SELECT {columns}
FROM triple_import
WHERE
    workspace_id = %(workspace_id)s
    AND (%(id)s::uuid IS NULL OR id = %(id)s::uuid)
    AND (%(after)s::text IS NULL OR name > %(after)s::text)
ORDER BY name
LIMIT %(limit)s;

-- name: record
INSERT INTO triple_import (
    workspace_id, id, name, format, triples, entities, relations, aliases, notes, created_by
)
VALUES (
    %(workspace_id)s, %(id)s, %(name)s, %(format)s, %(triples)s, %(entities)s, %(relations)s, %(aliases)s, %(notes)s,
    %(created_by)s
)
ON CONFLICT (workspace_id, id) DO UPDATE SET
    format = excluded.format,
    triples = excluded.triples,
    entities = excluded.entities,
    relations = excluded.relations,
    aliases = excluded.aliases,
    notes = excluded.notes,
    created_by = excluded.created_by,
    updated_at = now()
RETURNING {columns};

-- name: delete
DELETE FROM triple_import WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: id_of
SELECT id FROM triple_import WHERE workspace_id = %(workspace_id)s AND name = %(name)s;
