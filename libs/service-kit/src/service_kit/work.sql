-- The statements of leased work over one table, whose description (WorkTable) fills the placeholders.

-- name: claim
-- Leases what is due. The recursion steps from one party (a workspace, or one of its users) to the next in the index,
-- however many rows lie between. Those that have the least in work come first, in turn: the workspaces, and within each
-- its parties.
WITH RECURSIVE parties ({party}) AS (
    (SELECT {work_party} FROM {table} AS work WHERE {waiting} ORDER BY {work_party} LIMIT 1)
    UNION ALL
    SELECT {following_party}
    FROM parties CROSS JOIN LATERAL (
        SELECT {work_party} FROM {table} AS work
        WHERE {waiting} AND ({work_party}) > ({parties_party})
        ORDER BY {work_party} LIMIT 1
    ) AS following
),
held AS (
    SELECT {party}, count(*) AS items FROM {table} WHERE lease_token IS NOT NULL GROUP BY {party}
),
due AS (
    SELECT {first_key}, first.priority, first.available_at, row_number() OVER (
        PARTITION BY first.workspace_id
        ORDER BY first.priority DESC, coalesce(held.items, 0) + first.place, first.available_at
    ) AS place
    FROM parties
    LEFT JOIN held USING ({party})
    CROSS JOIN LATERAL (
        SELECT {work_key}, work.available_at, {priority} AS priority,
               row_number() OVER (ORDER BY {priority} DESC, work.available_at) AS place
        FROM {table} AS work
        WHERE {waiting} AND ({work_party}) = ({parties_party}) AND work.available_at <= now() AND {claimable}
        ORDER BY priority DESC, work.available_at
        LIMIT %(limit)s + %(spare)s
    ) AS first
),
chosen AS (
    SELECT {due_key}, due.priority, coalesce(held.items, 0) + due.place AS turn, due.available_at
    FROM due
    LEFT JOIN (SELECT workspace_id, sum(items) AS items FROM held GROUP BY workspace_id) AS held USING (workspace_id)
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

-- name: extend_together
-- Extends what one process holds. A row that is being written in this moment is left out.
WITH locked AS (
    SELECT {work_key}
    FROM unnest(%(workspace_ids)s::uuid[], %(lease_tokens)s::uuid[]) AS held (workspace_id, lease_token)
    JOIN {table} AS work USING (workspace_id, lease_token)
    FOR NO KEY UPDATE OF work SKIP LOCKED
)
UPDATE {table} AS work
SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
FROM locked
WHERE ({work_key}) = ({locked_key})
RETURNING work.lease_token, {stop} AS stop;

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
