SELECT position, action, path, document_id, file_size, message
FROM sync_change
WHERE workspace_id = %(workspace_id)s AND sync_id = %(sync_id)s AND position > %(after)s
ORDER BY position
LIMIT %(limit)s
