INSERT INTO deletion_receipt (workspace_id, document_id, service, removed, remaining)
VALUES (%(workspace_id)s, %(document_id)s, %(service)s, %(removed)s, %(remaining)s)
ON CONFLICT (workspace_id, document_id, service)
DO UPDATE SET removed = excluded.removed, remaining = excluded.remaining, confirmed_at = now()
