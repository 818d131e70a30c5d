-- What a document shows of where it comes from is that of its first origin; it is stale when it is missing everywhere.
WITH was AS (
    SELECT id, name FROM document WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s)
),
first AS (
    SELECT DISTINCT ON (origin.document_id) origin.document_id, origin.kind, origin.source_id, origin.path, origin.uri,
           origin.name, coalesce(source.name, origin.name) AS source_name,
           bool_and(origin.missing_since IS NOT NULL) OVER (PARTITION BY origin.document_id) AS missing
    FROM origin
    LEFT JOIN source ON source.workspace_id = origin.workspace_id AND source.id = origin.source_id
    WHERE origin.workspace_id = %(workspace_id)s AND origin.document_id = ANY(%(document_ids)s)
    ORDER BY origin.document_id, origin.created_at, origin.id
)
UPDATE document
SET name = first.name, source_type = first.kind, source_id = first.source_id, source_name = first.source_name,
    source_path = first.path, source_uri = first.uri,
    stale_at = CASE WHEN first.missing THEN coalesce(document.stale_at, now()) END, updated_at = now()
FROM first
JOIN was ON was.id = first.document_id
WHERE document.workspace_id = %(workspace_id)s AND document.id = first.document_id
RETURNING document.id, document.version, document.name, document.title, document.tags,
          document.name <> was.name AND document.chunk_count IS NOT NULL AS renamed
