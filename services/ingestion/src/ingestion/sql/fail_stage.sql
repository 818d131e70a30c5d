UPDATE document_stage
SET status = CASE WHEN name = %(failed)s THEN 'failed' WHEN name = 'convert' THEN 'succeeded' ELSE 'waiting' END,
    finished_at = now(), lease = NULL,
    error_class = CASE WHEN name = %(failed)s THEN %(error_class)s END,
    error_message = CASE WHEN name = %(failed)s THEN %(error_message)s END
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lease = %(lease)s AND status = 'running'
