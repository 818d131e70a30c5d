SELECT DISTINCT workspace_id, document_id
FROM document_stage
WHERE status = 'running' AND heartbeat_at < now() - make_interval(secs => %(lease)s)
