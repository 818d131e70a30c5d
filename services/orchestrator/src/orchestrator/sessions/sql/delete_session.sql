WITH runs AS (
    SELECT array_agg(id) AS ids FROM run WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s
)
DELETE FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
  AND (%(version)s::integer IS NULL OR version = %(version)s)
RETURNING coalesce((SELECT ids FROM runs), '{}') AS run_ids
