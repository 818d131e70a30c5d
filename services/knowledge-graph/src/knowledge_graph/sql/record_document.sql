INSERT INTO graphed_document (
    workspace_id, document_id, version, name, title, language, chunks_key, chunks_digest, chunks, entities, relations, method, notes
)
VALUES (
    %(workspace_id)s, %(document_id)s, %(version)s, %(name)s, %(title)s, %(language)s, %(chunks_key)s, %(chunks_digest)s,
    %(chunks)s, %(entities)s, %(relations)s, %(method)s, %(notes)s
)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET
    version = excluded.version,
    name = excluded.name,
    title = excluded.title,
    language = excluded.language,
    chunks_key = excluded.chunks_key,
    chunks_digest = excluded.chunks_digest,
    chunks = excluded.chunks,
    entities = excluded.entities,
    relations = excluded.relations,
    method = excluded.method,
    notes = excluded.notes,
    graphed_at = now()
