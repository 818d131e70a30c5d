SELECT chunk_id FROM chunk WHERE workspace_id = %(workspace_id)s AND chunk_id = ANY (%(chunk_ids)s)
