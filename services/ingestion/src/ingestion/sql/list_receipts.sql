SELECT service, removed, remaining, confirmed_at
FROM deletion_receipt
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
ORDER BY service
