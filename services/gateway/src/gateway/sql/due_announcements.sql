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
RETURNING workspace_id
