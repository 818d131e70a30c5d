SELECT
    id, state, follow, model, max_tokens, max_calls, calls, input_tokens, output_tokens, last_error,
    CASE WHEN state = 'queued' AND available_at > now() THEN available_at END AS retry_at,
    created_by, created_at, started_at, ended_at
FROM refinement_run
WHERE
    workspace_id = %(workspace_id)s
    AND (%(id)s::uuid IS NULL OR id = %(id)s::uuid)
    AND (
        %(before_time)s::timestamptz IS NULL
        OR (created_at, id) < (%(before_time)s::timestamptz, %(before_id)s::uuid)
    )
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s
