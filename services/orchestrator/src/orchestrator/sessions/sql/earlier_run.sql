SELECT run.id, message.content, run.document_ids
FROM run
JOIN message ON message.workspace_id = run.workspace_id AND message.run_id = run.id AND message.role = 'user'
WHERE run.workspace_id = %(workspace_id)s AND run.session_id = %(session_id)s AND run.idempotency_key = %(key)s
