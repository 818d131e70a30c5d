UPDATE refinement_queue SET
    attempts = attempts + 1,
    available_at = now() + make_interval(secs => %(seconds)s * least(attempts + 1, 10))
WHERE (workspace_id, document_id) IN (
    SELECT workspace_id, document_id FROM refinement_queue
    WHERE available_at <= now()
    ORDER BY available_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING workspace_id, document_id, sequence, attempts
