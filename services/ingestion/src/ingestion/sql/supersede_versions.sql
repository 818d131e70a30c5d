-- An older version is done with when the newest is indexed and nothing of it is left to do: the embedding may still
-- copy the older one's vectors.
UPDATE document_version AS older
SET superseded_at = now()
WHERE older.replaced_at IS NOT NULL AND older.superseded_at IS NULL
  AND EXISTS (
      SELECT FROM document_version AS newest
      WHERE newest.workspace_id = older.workspace_id AND newest.document_id = older.document_id
        AND newest.version > older.version AND newest.replaced_at IS NULL AND newest.indexed_at IS NOT NULL
  )
  AND NOT EXISTS (
      SELECT FROM document_stage AS stage
      WHERE stage.workspace_id = older.workspace_id AND stage.document_id = older.document_id
        AND stage.status IN ('waiting', 'queued', 'running')
  )
