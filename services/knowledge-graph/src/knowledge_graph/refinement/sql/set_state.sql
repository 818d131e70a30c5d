UPDATE refinement_run SET
    state = %(state)s,
    ended_at = CASE WHEN %(state)s = 'cancelled' THEN now() ELSE ended_at END,
    last_error = coalesce(%(error)s, last_error)
WHERE
    workspace_id = %(workspace_id)s
    AND (%(id)s::uuid IS NULL OR id = %(id)s::uuid)
    AND state = ANY(%(present)s::text[])
