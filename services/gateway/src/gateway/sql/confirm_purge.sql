UPDATE workspace_receipt
SET removed = %(removed)s, remaining = %(remaining)s, confirmed_at = clock_timestamp()
WHERE workspace_id = %(workspace_id)s AND service = %(service)s
