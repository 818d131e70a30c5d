-- name: reserve
-- Reserves the same tokens of several budgets, each only if it is not used up; returns those of which it did. What was
-- used before a budget was set is counted when its row is made.
INSERT INTO token_budget AS budget (workspace_id, subject, subject_id, day, most, used, reserved)
SELECT %(workspace_id)s, wanted.subject, wanted.subject_id, wanted.day, wanted.most, before.used, %(tokens)s
FROM unnest(%(subjects)s::text[], %(subject_ids)s::uuid[], %(days)s::date[], %(limits)s::bigint[])
    AS wanted (subject, subject_id, day, most)
CROSS JOIN LATERAL (
    SELECT coalesce(sum(earlier.input_tokens + earlier.output_tokens), 0) AS used FROM model_call AS earlier
    WHERE earlier.workspace_id = %(workspace_id)s
      AND CASE wanted.subject
          WHEN 'workspace' THEN earlier.day = wanted.day
          WHEN 'user' THEN earlier.day = wanted.day AND earlier.user_id = wanted.subject_id
          WHEN 'key' THEN earlier.day = wanted.day AND earlier.key_id = wanted.subject_id
          ELSE earlier.run_id = wanted.subject_id END
      AND NOT EXISTS (
          SELECT FROM token_budget AS made
          WHERE made.workspace_id = %(workspace_id)s AND made.subject = wanted.subject
            AND made.subject_id = wanted.subject_id AND made.day = wanted.day)
) AS before
WHERE before.used < wanted.most
ORDER BY wanted.subject, wanted.subject_id
ON CONFLICT (workspace_id, subject, subject_id, day) DO UPDATE
    SET reserved = budget.reserved + excluded.reserved, most = excluded.most
    WHERE budget.used + budget.reserved < excluded.most
RETURNING subject, used + reserved AS taken, most;

-- name: begin
INSERT INTO model_call (workspace_id, id, run_id, attempt, user_id, key_id, role, provider, model, day,
                        reserved_tokens, budgets)
VALUES (%(workspace_id)s, %(id)s, %(run_id)s, %(attempt)s, %(user_id)s, %(key_id)s, %(role)s, %(provider)s, %(model)s,
        %(day)s, %(reserved_tokens)s, %(budgets)s);

-- name: settle
-- Ends a call once, and gives back what was reserved for it.
WITH ended AS (
    UPDATE model_call
    SET input_tokens = %(input_tokens)s, output_tokens = %(output_tokens)s, cached_tokens = %(cached_tokens)s,
        thinking_tokens = %(thinking_tokens)s, cost = %(cost)s, is_told = %(is_told)s,
        first_token_ms = %(first_token_ms)s, ended = %(ended)s, ended_at = clock_timestamp()
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND ended IS NULL
    RETURNING *
)
{give_back};

-- name: settle_lost
-- Ends the calls whose process has died: their run is not worked on any more, or by another attempt. What they took is
-- not known; what was reserved is counted.
WITH ended AS (
    UPDATE model_call AS call
    SET input_tokens = call.reserved_tokens, ended = 'lost', ended_at = clock_timestamp()
    WHERE call.workspace_id = %(workspace_id)s AND call.ended IS NULL AND NOT EXISTS (
        SELECT FROM run
        WHERE run.workspace_id = call.workspace_id AND run.id = call.run_id AND run.state = 'running'
          AND run.attempts = call.attempt)
    RETURNING *
)
{give_back};

-- name: budgets
SELECT subject, most, used, reserved FROM token_budget
WHERE workspace_id = %(workspace_id)s
  AND (subject, subject_id, day) IN (
      SELECT * FROM unnest(%(subjects)s::text[], %(subject_ids)s::uuid[], %(days)s::date[]));

-- name: runs
SELECT {run_columns} FROM run
WHERE run.workspace_id = %(workspace_id)s AND (%(user_id)s::uuid IS NULL OR run.created_by = %(user_id)s)
  AND NOT EXISTS (
      SELECT FROM temporary_session AS hidden
      WHERE hidden.workspace_id = run.workspace_id AND hidden.session_id = run.session_id)
  AND (%(states)s::text[] IS NULL OR run.state = ANY(%(states)s))
  AND (%(before_at)s::timestamptz IS NULL OR (run.created_at, run.id) < (%(before_at)s, %(before_id)s::uuid))
ORDER BY run.created_at DESC, run.id DESC
LIMIT %(limit)s;

-- name: report
-- Sums up the calls of some days by what is asked for; what is not asked for is null.
SELECT CASE WHEN 'day' = ANY(%(groups)s) THEN day END AS day,
       CASE WHEN 'user' = ANY(%(groups)s) THEN user_id END AS user_id,
       CASE WHEN 'key' = ANY(%(groups)s) THEN key_id END AS key_id,
       CASE WHEN 'model' = ANY(%(groups)s) THEN provider END AS provider,
       CASE WHEN 'model' = ANY(%(groups)s) THEN model END AS model,
       {sums}
FROM model_call AS call
WHERE workspace_id = %(workspace_id)s AND day BETWEEN %(since)s AND %(until)s
  AND (%(user_id)s::uuid IS NULL OR user_id = %(user_id)s) AND ended IS NOT NULL
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5
LIMIT %(limit)s;
