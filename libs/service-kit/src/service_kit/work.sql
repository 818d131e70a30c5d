-- The statements of leased work over one table, whose description (WorkTable) fills the placeholders.

-- name: claim
-- Leases what is due. The recursion steps from one workspace to the next in the index, however many rows lie between;
-- the workspaces that have the least in work come first, in turn.
WITH RECURSIVE workspaces (workspace_id) AS (
    (SELECT work.workspace_id FROM {table} AS work WHERE {waiting} ORDER BY work.workspace_id LIMIT 1)
    UNION ALL
    SELECT following.workspace_id
    FROM workspaces CROSS JOIN LATERAL (
        SELECT work.workspace_id FROM {table} AS work
        WHERE {waiting} AND work.workspace_id > workspaces.workspace_id
        ORDER BY work.workspace_id LIMIT 1
    ) AS following
),
held AS (
    SELECT workspace_id, count(*) AS items FROM {table} WHERE lease_token IS NOT NULL GROUP BY workspace_id
),
chosen AS (
    SELECT {due_key}, due.priority, coalesce(held.items, 0) + due.place AS turn, due.available_at
    FROM workspaces
    LEFT JOIN held USING (workspace_id)
    CROSS JOIN LATERAL (
        SELECT {work_key}, work.available_at, {priority} AS priority,
               row_number() OVER (ORDER BY {priority} DESC, work.available_at) AS place
        FROM {table} AS work
        WHERE {waiting} AND work.workspace_id = workspaces.workspace_id AND work.available_at <= now() AND {claimable}
        ORDER BY priority DESC, work.available_at
        LIMIT %(limit)s + %(spare)s
    ) AS due
    WHERE {within}
    ORDER BY due.priority DESC, turn, due.available_at
    LIMIT %(limit)s + %(spare)s
),
locked AS (
    SELECT {work_key}
    FROM chosen JOIN {table} AS work USING ({key})
    WHERE {waiting} AND work.available_at <= now()
    ORDER BY chosen.priority DESC, chosen.turn, chosen.available_at
    LIMIT %(limit)s
    FOR UPDATE OF work SKIP LOCKED
)
UPDATE {table} AS work
SET lease_token = gen_random_uuid(), lease_owner = %(owner)s,
    lease_expires_at = now() + make_interval(secs => %(lease_seconds)s), attempts = work.attempts + 1{on_claim}
FROM locked
WHERE ({work_key}) = ({locked_key})
RETURNING {returned};

-- name: extend
UPDATE {table} AS work
SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s){set}
WHERE work.workspace_id = %(workspace_id)s AND work.lease_token = %(lease_token)s
RETURNING {stop};

-- name: release
UPDATE {table} AS work
SET lease_token = NULL, lease_expires_at = NULL, attempts = work.attempts - %(refund)s,
    available_at = now() + make_interval(secs => %(delay_seconds)s){on_release}{set}
WHERE work.workspace_id = %(workspace_id)s AND work.lease_token = %(lease_token)s;

-- name: finish
UPDATE {table} AS work
SET lease_token = NULL, lease_expires_at = NULL{on_finish}{set}
WHERE work.workspace_id = %(workspace_id)s AND work.lease_token = %(lease_token)s;

-- name: recover
-- Puts back what dead processes hold, at its place in the queue.
WITH lost AS (
    SELECT {work_key} FROM {table} AS work
    WHERE work.lease_token IS NOT NULL AND work.lease_expires_at < now()
    FOR UPDATE SKIP LOCKED
)
UPDATE {table} AS work
SET lease_token = NULL, lease_expires_at = NULL{on_loss}
FROM lost
WHERE ({work_key}) = ({lost_key})
RETURNING work.workspace_id;
