-- Those of uploads that are known by their content alone.
DELETE FROM origin
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND kind = 'upload' AND path LIKE 'sha256:%%'
