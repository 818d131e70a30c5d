-- The workspace of the administrator, as the gateway announces it: it alone may use folders and S3 connections for which
-- the operator names no workspace. One row; the latest announcement wins.
CREATE TABLE administrator_workspace (
    workspace_id uuid PRIMARY KEY,
    told_at timestamptz NOT NULL
);
SELECT protect_queue('administrator_workspace');

-- Where a file lies is told as seen from its source, not from the root of the server; documents that told more are told
-- again, so that other services forget it.
CREATE FUNCTION seen_from_source(uri text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN uri LIKE 'git+file:%' THEN 'git:' ELSE 'file:' END
        || array_to_string((string_to_array(uri, '/'))[
               cardinality(string_to_array(uri, '/')) - cardinality(string_to_array(path, '/')) + 1:], '/')
$$;
UPDATE origin SET uri = seen_from_source(uri, path) WHERE uri LIKE 'file:///%' OR uri LIKE 'git+file:///%';

WITH told AS (
    UPDATE document SET source_uri = seen_from_source(source_uri, source_path)
    WHERE source_uri LIKE 'file:///%' OR source_uri LIKE 'git+file:///%'
    RETURNING *
)
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
FROM told
WHERE chunk_count IS NOT NULL AND status <> 'deleting'
ORDER BY workspace_id, created_at;
DROP FUNCTION seen_from_source;
