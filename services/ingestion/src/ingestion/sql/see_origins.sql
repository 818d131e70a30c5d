WITH seen AS (
    UPDATE origin SET seen_at = now(), missing_since = NULL
    WHERE workspace_id = %(workspace_id)s AND id = ANY(%(origin_ids)s)
    RETURNING document_id
)
UPDATE document SET stale_at = NULL
WHERE workspace_id = %(workspace_id)s AND stale_at IS NOT NULL AND id IN (SELECT document_id FROM seen)
