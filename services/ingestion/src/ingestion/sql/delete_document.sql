DELETE FROM document WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s AND status = 'deleting'
