-- Only while the lease is held, so that two workers never write one list.
INSERT INTO sync_change (workspace_id, sync_id, position, action, path, document_id, file_size, message)
SELECT workspace_id, id, %(position)s, %(action)s, %(path)s, %(document_id)s, %(file_size)s, %(message)s
FROM source_sync
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s
