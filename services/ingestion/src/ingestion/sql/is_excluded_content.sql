SELECT EXISTS (
    SELECT FROM origin
    WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND excluded AND content_hash = %(content_hash)s
)
