SELECT id, outgoing, incoming FROM entity WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s)
