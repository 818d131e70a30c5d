UPDATE document SET status = 'deleting', updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s) AND status <> 'deleting'
