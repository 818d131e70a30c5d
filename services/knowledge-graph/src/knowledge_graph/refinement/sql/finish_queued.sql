DELETE FROM refinement_queue
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND sequence = %(sequence)s
