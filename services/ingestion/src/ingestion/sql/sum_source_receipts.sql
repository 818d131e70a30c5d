WITH receipt AS (
    SELECT deletion_receipt.service, deletion_receipt.removed, deletion_receipt.remaining, deletion_receipt.confirmed_at
    FROM deletion
    JOIN deletion_receipt USING (workspace_id, document_id)
    WHERE deletion.workspace_id = %(workspace_id)s AND deletion.source_id = %(source_id)s
),
total AS (
    SELECT service, side, kind, sum(counted::bigint)::bigint AS counted
    FROM receipt
    CROSS JOIN LATERAL (
        SELECT 'removed' AS side, key AS kind, value AS counted FROM jsonb_each_text(removed)
        UNION ALL
        SELECT 'remaining', key, value FROM jsonb_each_text(remaining)
    ) AS each
    GROUP BY service, side, kind
)
SELECT service,
       coalesce((SELECT jsonb_object_agg(kind, counted) FROM total
                 WHERE total.service = receipt.service AND side = 'removed'), '{}') AS removed,
       coalesce((SELECT jsonb_object_agg(kind, counted) FROM total
                 WHERE total.service = receipt.service AND side = 'remaining'), '{}') AS remaining,
       max(confirmed_at) AS confirmed_at
FROM receipt
GROUP BY service
ORDER BY service
