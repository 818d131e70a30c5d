-- Those that come from nowhere else that is current.
UPDATE document
SET stale_at = now()
WHERE workspace_id = %(workspace_id)s AND stale_at IS NULL
  AND id IN (SELECT document_id FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s)
  AND NOT EXISTS (
      SELECT FROM origin LEFT JOIN source
          ON source.workspace_id = origin.workspace_id AND source.id = origin.source_id
      WHERE origin.workspace_id = %(workspace_id)s AND origin.document_id = document.id
        AND origin.missing_since IS NULL AND source.stale_since IS NULL)
