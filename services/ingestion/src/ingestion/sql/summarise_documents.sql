WITH chosen AS (
    SELECT id, status, embedding_status, file_size FROM document
    WHERE workspace_id = %(workspace_id)s AND status <> 'deleting'
      AND (%(source_id)s::uuid IS NULL OR EXISTS (
            SELECT FROM origin
            WHERE origin.workspace_id = document.workspace_id AND origin.document_id = document.id
              AND origin.source_id = %(source_id)s
          ))
),
open_stage AS (
    SELECT stage.document_id, stage.name, stage.status, stage.error_class
    FROM document_stage AS stage
    WHERE stage.workspace_id = %(workspace_id)s AND stage.status IN ('queued', 'running', 'failed')
      AND stage.document_id IN (SELECT id FROM chosen)
),
at AS (
    SELECT name, count(*) AS documents FROM open_stage WHERE status IN ('queued', 'running') GROUP BY name
),
failure AS (
    SELECT coalesce(open_stage.error_class, 'unknown') AS error_class, count(DISTINCT open_stage.document_id) AS documents
    FROM open_stage JOIN chosen ON chosen.id = open_stage.document_id
    WHERE chosen.status = 'failed' AND open_stage.status = 'failed' AND open_stage.name <> 'graph'
    GROUP BY 1
),
done AS (
    SELECT indexed_at FROM document_version
    WHERE workspace_id = %(workspace_id)s AND indexed_at > now() - interval '5 minutes'
      AND document_id IN (SELECT id FROM chosen)
)
SELECT (SELECT count(*) FROM chosen) AS total,
       (SELECT coalesce(jsonb_object_agg(status, documents), '{}')
        FROM (SELECT status, count(*) AS documents FROM chosen GROUP BY status) AS counted) AS by_status,
       (SELECT coalesce(jsonb_object_agg(name, documents), '{}') FROM at) AS by_stage,
       (SELECT count(*) FROM chosen WHERE embedding_status = 'failed') AS embedding_failed,
       (SELECT coalesce(jsonb_object_agg(error_class, documents), '{}') FROM failure) AS failures,
       (SELECT coalesce(sum(file_size), 0)::bigint FROM chosen WHERE id IN (
            SELECT document_id FROM open_stage WHERE name = 'convert' AND status IN ('queued', 'running')
        )) AS queued_bytes,
       (SELECT count(*) FROM done WHERE indexed_at > now() - interval '1 minute') AS done_last_minute,
       (SELECT count(*) FROM done) AS done_lately,
       (SELECT min(indexed_at) FROM done) AS done_since
