-- name: settle
-- Records the run, and deletes the user's old ones: nobody waits for them any more.
WITH old AS (
    DELETE FROM settled_run
    WHERE workspace_id = %(workspace_id)s AND user_id = %(user_id)s AND run_id <> %(run_id)s
      AND settled_at < now() - interval '1 day'
)
INSERT INTO settled_run (workspace_id, run_id, user_id) VALUES (%(workspace_id)s, %(run_id)s, %(user_id)s)
ON CONFLICT (workspace_id, run_id) DO UPDATE SET settled_at = now();

-- name: is_settled
-- Turns from before this was recorded left messages.
SELECT EXISTS (SELECT FROM settled_run WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s)
    OR EXISTS (SELECT FROM memory WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s);
