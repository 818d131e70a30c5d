SELECT DISTINCT alias_id FROM alias_evidence WHERE workspace_id = %(workspace_id)s AND target_id = ANY(%(ids)s)
