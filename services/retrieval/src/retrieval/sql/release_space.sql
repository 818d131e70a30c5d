UPDATE embedding_space SET lease_owner = NULL, lease_until = NULL
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s
