-- name: settle
INSERT INTO settled_run (workspace_id, run_id, user_id) VALUES (%(workspace_id)s, %(run_id)s, %(user_id)s)
ON CONFLICT (workspace_id, run_id) DO UPDATE SET settled_at = now();

-- name: is_settled
-- Turns from before this was recorded left messages.
SELECT EXISTS (SELECT FROM settled_run WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s)
    OR EXISTS (SELECT FROM memory WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s);
