-- What a call took is counted whatever became of the run. The answer counts only under the present lease.
UPDATE refinement_run SET
    calls = calls + %(calls)s,
    input_tokens = input_tokens + %(input_tokens)s,
    output_tokens = output_tokens + %(output_tokens)s,
    outages = CASE WHEN %(answered)s THEN 0 ELSE outages END,
    last_error = coalesce(%(error)s, last_error)
WHERE workspace_id = %(workspace_id)s AND id = %(id)s
RETURNING lease_token IS NOT DISTINCT FROM %(lease_token)s
