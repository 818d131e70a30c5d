UPDATE source_sync
SET heartbeat_at = now(), seen = %(seen)s, added = %(added)s, changed = %(changed)s, removed = %(removed)s,
    unchanged = %(unchanged)s, refused = %(refused)s, excluded = %(excluded)s, bytes = %(bytes)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s AND status = 'running'
