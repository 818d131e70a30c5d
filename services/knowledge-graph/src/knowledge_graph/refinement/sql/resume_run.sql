UPDATE refinement_run SET
    state = 'queued',
    available_at = now(),
    outages = 0,
    ended_at = NULL,
    model = %(model)s,
    max_tokens = coalesce(%(max_tokens)s::bigint, max_tokens),
    max_calls = coalesce(%(max_calls)s::bigint, max_calls)
WHERE
    workspace_id = %(workspace_id)s
    AND id = %(id)s
    AND state IN ('paused', 'budget_exhausted', 'failed')
