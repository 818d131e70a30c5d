-- What a document shows of where it comes from is that of its first origin; it is stale when it is missing everywhere.
WITH was AS (
    SELECT id, (name, source_type, source_ids, source_name, source_path, source_uri) AS shown FROM document
    WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s)
),
first AS (
    SELECT DISTINCT ON (origin.document_id) origin.document_id, origin.kind, origin.source_id, origin.path, origin.uri,
           origin.name, coalesce(source.name, origin.name) AS source_name,
           bool_and(origin.missing_since IS NOT NULL) OVER (PARTITION BY origin.document_id) AS missing,
           ARRAY(SELECT DISTINCT other.source_id FROM origin AS other
                 WHERE other.workspace_id = %(workspace_id)s AND other.document_id = origin.document_id
                   AND other.source_id IS NOT NULL
                 ORDER BY other.source_id) AS source_ids
    FROM origin
    LEFT JOIN source ON source.workspace_id = origin.workspace_id AND source.id = origin.source_id
    WHERE origin.workspace_id = %(workspace_id)s AND origin.document_id = ANY(%(document_ids)s)
    ORDER BY origin.document_id, origin.created_at, origin.id
)
UPDATE document
SET name = first.name, source_type = first.kind, source_id = first.source_id, source_name = first.source_name,
    source_path = first.path, source_uri = first.uri, source_ids = first.source_ids,
    stale_at = CASE WHEN first.missing THEN coalesce(document.stale_at, now()) END, updated_at = now()
FROM first
JOIN was ON was.id = first.document_id
WHERE document.workspace_id = %(workspace_id)s AND document.id = first.document_id
RETURNING document.id,
          document.chunk_count IS NOT NULL
          AND (document.name, document.source_type, document.source_ids, document.source_name, document.source_path,
               document.source_uri) IS DISTINCT FROM was.shown AS changed
