DELETE FROM sync_change WHERE workspace_id = %(workspace_id)s AND sync_id = %(id)s AND action = 'refuse'
