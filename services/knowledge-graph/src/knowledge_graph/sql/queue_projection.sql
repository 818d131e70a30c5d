INSERT INTO projection_queue (workspace_id, document_id, receipt)
VALUES (%(workspace_id)s, %(document_id)s, %(receipt)s)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET
    sequence = DEFAULT,
    receipt = coalesce(excluded.receipt, projection_queue.receipt),
    queued_at = now()
