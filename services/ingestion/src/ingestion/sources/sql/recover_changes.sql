-- What the attempt before did after it had written its list for the last time: places and versions since the beginning.
INSERT INTO sync_change (workspace_id, sync_id, position, action, path, document_id, file_size)
SELECT sync.workspace_id, sync.id,
       (SELECT coalesce(max(position), 0) FROM sync_change
        WHERE workspace_id = %(workspace_id)s AND sync_id = %(id)s) + row_number() OVER (ORDER BY origin.path),
       CASE WHEN origin.created_at >= sync.started_at THEN 'add' ELSE 'change' END,
       origin.path, origin.document_id, version.file_size
FROM source_sync AS sync
JOIN origin ON origin.workspace_id = sync.workspace_id AND origin.source_id = sync.source_id
JOIN document_version AS version ON version.workspace_id = origin.workspace_id
     AND version.document_id = origin.document_id AND version.content_hash = origin.content_hash
WHERE sync.workspace_id = %(workspace_id)s AND sync.id = %(id)s AND sync.lease = %(lease)s AND NOT sync.dry_run
  AND (origin.created_at >= sync.started_at OR version.created_at >= sync.started_at)
  AND NOT EXISTS (SELECT FROM sync_change AS listed
                  WHERE listed.workspace_id = sync.workspace_id AND listed.sync_id = sync.id
                    AND listed.path = origin.path)
