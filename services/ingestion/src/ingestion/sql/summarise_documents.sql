-- Joined by primary keys alone, so that it stays quick before the planner knows how many documents there are.
WITH counted AS (
    SELECT document.status, count(*) AS documents,
           count(*) FILTER (WHERE document.embedding_status = 'failed') AS embedding_failed
    FROM document
    WHERE document.workspace_id = %(workspace_id)s AND document.status <> 'deleting'
      AND (%(source_id)s::uuid IS NULL OR EXISTS (
            SELECT FROM origin
            WHERE origin.workspace_id = document.workspace_id AND origin.document_id = document.id
              AND origin.source_id = %(source_id)s
          ))
    GROUP BY document.status
),
open_stage AS (
    SELECT stage.document_id, stage.name, stage.status, stage.error_class, document.status AS document_status,
           document.file_size
    FROM document_stage AS stage
    JOIN document ON document.workspace_id = stage.workspace_id AND document.id = stage.document_id
    WHERE stage.workspace_id = %(workspace_id)s AND stage.status IN ('queued', 'running', 'failed')
      AND document.status <> 'deleting'
      AND (%(source_id)s::uuid IS NULL OR EXISTS (
            SELECT FROM origin
            WHERE origin.workspace_id = stage.workspace_id AND origin.document_id = stage.document_id
              AND origin.source_id = %(source_id)s
          ))
),
at_stage AS (
    SELECT name, count(*) AS documents FROM open_stage WHERE status IN ('queued', 'running') GROUP BY name
),
failure AS (
    SELECT coalesce(error_class, 'unknown') AS error_class, count(DISTINCT document_id) AS documents
    FROM open_stage
    WHERE document_status = 'failed' AND status = 'failed' AND name <> 'graph'
    GROUP BY 1
),
done AS (
    SELECT version.indexed_at
    FROM document_version AS version
    JOIN document ON document.workspace_id = version.workspace_id AND document.id = version.document_id
    WHERE version.workspace_id = %(workspace_id)s AND version.indexed_at > now() - interval '5 minutes'
      AND document.status <> 'deleting'
      AND (%(source_id)s::uuid IS NULL OR EXISTS (
            SELECT FROM origin
            WHERE origin.workspace_id = version.workspace_id AND origin.document_id = version.document_id
              AND origin.source_id = %(source_id)s
          ))
)
SELECT (SELECT coalesce(sum(documents), 0)::bigint FROM counted) AS total,
       (SELECT coalesce(jsonb_object_agg(status, documents), '{}') FROM counted) AS by_status,
       (SELECT coalesce(jsonb_object_agg(name, documents), '{}') FROM at_stage) AS by_stage,
       (SELECT coalesce(sum(embedding_failed), 0)::bigint FROM counted) AS embedding_failed,
       (SELECT coalesce(jsonb_object_agg(error_class, documents), '{}') FROM failure) AS failures,
       (SELECT coalesce(sum(file_size), 0)::bigint FROM open_stage
        WHERE name = 'convert' AND status IN ('queued', 'running')) AS queued_bytes,
       (SELECT count(*) FROM done WHERE indexed_at > now() - interval '1 minute') AS done_last_minute,
       (SELECT count(*) FROM done) AS done_lately,
       (SELECT min(indexed_at) FROM done) AS done_since
