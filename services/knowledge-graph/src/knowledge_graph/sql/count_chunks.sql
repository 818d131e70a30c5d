SELECT coalesce(sum(chunks), 0)::bigint AS chunks FROM graphed_document WHERE workspace_id = %(workspace_id)s
