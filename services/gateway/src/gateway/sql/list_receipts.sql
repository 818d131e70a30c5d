SELECT service, removed, remaining, confirmed_at FROM workspace_receipt
WHERE workspace_id = %(workspace_id)s
ORDER BY service
