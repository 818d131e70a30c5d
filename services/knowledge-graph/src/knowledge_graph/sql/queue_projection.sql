INSERT INTO projection_queue (workspace_id, kind, id, other, receipt)
SELECT %(workspace_id)s, rows.kind, rows.id, rows.other, rows.receipt
FROM unnest(%(kinds)s::text[], %(ids)s::text[], %(others)s::text[], %(receipts)s::jsonb[])
    AS rows (kind, id, other, receipt)
ON CONFLICT (workspace_id, kind, id, other) DO UPDATE SET
    sequence = DEFAULT,
    receipt = coalesce(excluded.receipt, projection_queue.receipt),
    queued_at = now()
