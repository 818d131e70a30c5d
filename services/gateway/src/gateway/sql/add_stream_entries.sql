UPDATE workspace_receipt
SET removed = removed || jsonb_build_object(
        'stream_entries', coalesce((removed ->> 'stream_entries')::bigint, 0) + %(removed)s::bigint
    ),
    remaining = remaining || jsonb_build_object('stream_entries', %(remaining)s::bigint),
    confirmed_at = clock_timestamp()
WHERE workspace_id = %(workspace_id)s AND service = %(gateway)s
