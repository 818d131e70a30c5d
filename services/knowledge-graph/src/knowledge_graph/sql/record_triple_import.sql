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
RETURNING id, name, format, triples, entities, relations, aliases, notes, created_by, created_at, updated_at
