INSERT INTO workspace_deletion (workspace_id, requested_by, next_announcement)
VALUES (%(workspace_id)s, %(requested_by)s, clock_timestamp() + make_interval(secs => %(again)s))
