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
RETURNING deletion.next_announcement IS NULL AS is_settled
