-- All sources of a document beside it, and what is known of every converted document told again: others keep more of it.

ALTER TABLE document ADD COLUMN source_ids uuid[] NOT NULL DEFAULT '{}';
UPDATE document SET source_ids = found.source_ids
FROM (SELECT workspace_id, document_id, array_agg(DISTINCT source_id ORDER BY source_id) AS source_ids
      FROM origin WHERE source_id IS NOT NULL AND document_id IS NOT NULL GROUP BY workspace_id, document_id) AS found
WHERE document.workspace_id = found.workspace_id AND document.id = found.document_id;

INSERT INTO outbox (workspace_id, stream, event)
SELECT workspace_id, 'attractor.documents', jsonb_build_object(
    'specversion', '1.0', 'id', gen_random_uuid(), 'source', 'ingestion', 'type', 'document.described.v2', 'time', now(),
    'subject', id, 'workspace_id', workspace_id, 'datacontenttype', 'application/json',
    'data', jsonb_build_object(
        'document_id', id, 'version', version, 'name', name, 'title', title, 'tags', tags, 'source_type', source_type,
        'source_ids', source_ids, 'written_at', written_at, 'modified_at', modified_at,
        'metadata', jsonb_strip_nulls(jsonb_build_object(
            'authors', CASE WHEN authors <> '{}' THEN authors END, 'pages', pages, 'file_size', file_size,
            'engine', engine,
            'source', jsonb_build_object('name', source_name, 'path', source_path, 'uri', source_uri)))))
FROM document
WHERE chunk_count IS NOT NULL AND status <> 'deleting'
ORDER BY workspace_id, created_at;
