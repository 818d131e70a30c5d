-- What a user has decided meanwhile stays.
UPDATE refinement_run SET
    lease_token = NULL,
    lease_expires_at = NULL,
    state = CASE WHEN state = 'running' THEN %(state)s ELSE state END,
    ended_at = CASE
        WHEN state = 'running' AND %(state)s IN ('completed', 'failed', 'budget_exhausted') THEN now()
        ELSE ended_at
    END,
    outages = outages + %(outage)s::integer,
    available_at = now() + make_interval(secs => %(delay_seconds)s),
    last_error = coalesce(%(error)s, last_error)
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_token = %(lease_token)s
