-- name: add
INSERT INTO projection_queue (workspace_id, kind, id, other, receipt)
SELECT %(workspace_id)s, rows.kind, rows.id, rows.other, rows.receipt
FROM unnest(%(kinds)s::text[], %(ids)s::text[], %(others)s::text[], %(receipts)s::jsonb[])
    AS rows (kind, id, other, receipt)
ON CONFLICT (workspace_id, kind, id, other) DO UPDATE SET
    sequence = DEFAULT,
    receipt = coalesce(excluded.receipt, projection_queue.receipt),
    queued_at = now();

-- name: oldest
SELECT workspace_id, kind, id, other, sequence, receipt
FROM projection_queue
ORDER BY sequence
LIMIT %(limit)s;

-- name: finish
-- A change that was queued again meanwhile has a new sequence number and stays.
DELETE FROM projection_queue
USING unnest(%(kinds)s::text[], %(ids)s::text[], %(others)s::text[], %(sequences)s::bigint[])
    AS done (kind, id, other, sequence)
WHERE
    projection_queue.workspace_id = %(workspace_id)s
    AND projection_queue.kind = done.kind
    AND projection_queue.id = done.id
    AND projection_queue.other = done.other
    AND projection_queue.sequence = done.sequence
RETURNING projection_queue.id, projection_queue.receipt;

-- name: raise_version
INSERT INTO projection_state (workspace_id, version) VALUES (%(workspace_id)s, 1)
ON CONFLICT (workspace_id) DO UPDATE SET version = projection_state.version + 1;

-- name: add_workspaces
INSERT INTO projection_queue (workspace_id, kind, id)
SELECT DISTINCT workspace_id, 'workspace', '' FROM graphed_document
WHERE %(workspace_id)s::uuid IS NULL OR workspace_id = %(workspace_id)s::uuid
ON CONFLICT (workspace_id, kind, id, other) DO UPDATE SET sequence = DEFAULT, queued_at = now()
RETURNING workspace_id;

-- name: add_workspace
INSERT INTO projection_queue (workspace_id, kind, id) VALUES (%(workspace_id)s, 'workspace', '') ON CONFLICT DO NOTHING;

-- name: is_empty
SELECT NOT EXISTS (
    SELECT FROM projection_queue
    WHERE %(workspace_id)s::uuid IS NULL OR workspace_id = %(workspace_id)s::uuid
);

-- name: workspaces
SELECT DISTINCT workspace_id FROM projection_queue;

-- name: graphed_workspaces
SELECT DISTINCT workspace_id FROM graphed_document;

-- name: try_lock
SELECT pg_try_advisory_xact_lock(hashtext(%(channel)s));

-- name: lock
SELECT pg_advisory_xact_lock(hashtext(%(channel)s));

-- name: turn
SELECT pg_current_xact_id()::text::bigint;
