DELETE FROM embedding_space
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s AND status = 'dropping'
