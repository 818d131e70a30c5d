-- name: insert
INSERT INTO workspace_deletion (workspace_id, requested_by, next_announcement)
VALUES (%(workspace_id)s, %(requested_by)s, clock_timestamp() + make_interval(secs => %(again)s));

-- name: insert_receipts
INSERT INTO workspace_receipt (workspace_id, service)
SELECT %(workspace_id)s, unnest(%(services)s::text[]);

-- name: lock
SELECT true FROM workspace_deletion WHERE workspace_id = %(workspace_id)s FOR UPDATE;

-- name: find
SELECT workspace_id, requested_by, requested_at, completed_at FROM workspace_deletion
WHERE workspace_id = %(workspace_id)s;

-- name: list_receipts
SELECT service, removed, remaining, confirmed_at FROM workspace_receipt
WHERE workspace_id = %(workspace_id)s
ORDER BY service;

-- name: confirm
UPDATE workspace_receipt
SET removed = %(removed)s, remaining = %(remaining)s, confirmed_at = clock_timestamp()
WHERE workspace_id = %(workspace_id)s AND service = %(service)s;

-- name: settle
-- Complete as soon as every service has confirmed that it counts nothing. A last look is asked for once everything that
-- was under way at the deletion has ended, and only what was confirmed after that moment settles it.
WITH confirmed AS (
    SELECT bool_and(confirmed_at IS NOT NULL AND NOT EXISTS (
               SELECT FROM jsonb_each_text(remaining) AS left_over WHERE left_over.value <> '0'
           )) AS clean,
           min(confirmed_at) AS oldest
    FROM workspace_receipt
    WHERE workspace_id = %(workspace_id)s AND service <> %(gateway)s
)
UPDATE workspace_deletion AS deletion
SET completed_at = CASE WHEN confirmed.clean THEN coalesce(deletion.completed_at, clock_timestamp()) END,
    next_announcement = CASE
        WHEN NOT confirmed.clean THEN deletion.next_announcement
        WHEN confirmed.oldest >= deletion.requested_at + make_interval(secs => %(settle)s) THEN NULL
        ELSE greatest(deletion.requested_at + make_interval(secs => %(settle)s), deletion.next_announcement)
    END
FROM confirmed
WHERE deletion.workspace_id = %(workspace_id)s
RETURNING deletion.next_announcement IS NULL AS is_settled;

-- name: add_stream_entries
UPDATE workspace_receipt
SET removed = removed || jsonb_build_object(
        'stream_entries', coalesce((removed ->> 'stream_entries')::bigint, 0) + %(removed)s::bigint
    ),
    remaining = remaining || jsonb_build_object('stream_entries', %(remaining)s::bigint),
    confirmed_at = clock_timestamp()
WHERE workspace_id = %(workspace_id)s AND service = %(gateway)s;

-- name: due
-- Claims the deletions whose announcement is to be repeated, at doubling intervals.
UPDATE workspace_deletion
SET announcements = announcements + 1,
    next_announcement = clock_timestamp() + make_interval(secs => least(%(first)s * 2 ^ announcements, %(longest)s))
WHERE workspace_id IN (
    SELECT workspace_id FROM workspace_deletion
    WHERE next_announcement <= clock_timestamp()
    ORDER BY next_announcement
    LIMIT 100
    FOR UPDATE SKIP LOCKED
)
RETURNING workspace_id;
