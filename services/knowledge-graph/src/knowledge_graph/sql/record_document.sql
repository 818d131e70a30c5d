INSERT INTO graphed_document (workspace_id, document_id, version, name, chunks, entities, relations, method)
VALUES (
    %(workspace_id)s, %(document_id)s, %(version)s, %(name)s, %(chunks)s, %(entities)s, %(relations)s, %(method)s
)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET
    version = excluded.version,
    name = excluded.name,
    chunks = excluded.chunks,
    entities = excluded.entities,
    relations = excluded.relations,
    method = excluded.method,
    graphed_at = now()
