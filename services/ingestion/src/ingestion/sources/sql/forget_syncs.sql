DELETE FROM source_sync
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND status NOT IN ('queued', 'running')
  AND id NOT IN (
      SELECT id FROM source_sync
      WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
      ORDER BY created_at DESC, id DESC
      LIMIT %(kept)s)
