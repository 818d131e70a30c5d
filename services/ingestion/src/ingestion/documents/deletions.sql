-- name: mark_deleting
UPDATE document SET status = 'deleting', updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s) AND status <> 'deleting';

-- name: stop_queued_stages
UPDATE document_stage SET state = 'waiting'
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s) AND state = 'queued';

-- name: exclude_origins
-- Excludes the places at which sources still have a document that a user deleted.
UPDATE origin SET excluded = true, document_id = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND source_id IS NOT NULL;

-- name: delete_origins
DELETE FROM origin WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: insert
INSERT INTO deletion (workspace_id, document_id, source_id)
SELECT %(workspace_id)s, document_id, %(source_id)s::uuid FROM unnest(%(document_ids)s::uuid[]) AS document_id;

-- name: find
SELECT document_id, requested_at, completed_at
FROM deletion
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s;

-- name: deleted
-- Returns which of the documents are deleted; all of them if the workspace is, because its deletion rows are gone, too.
SELECT document_id FROM unnest(%(document_ids)s::uuid[]) AS asked (document_id)
WHERE EXISTS (SELECT FROM deleted_workspace WHERE deleted_workspace.workspace_id = %(workspace_id)s)
   OR EXISTS (
       SELECT FROM deletion
       WHERE deletion.workspace_id = %(workspace_id)s AND deletion.document_id = asked.document_id
   );

-- name: insert_of_orphan
INSERT INTO deletion (workspace_id, document_id) VALUES (%(workspace_id)s, %(document_id)s) ON CONFLICT DO NOTHING;

-- name: lock
SELECT document_id FROM deletion
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
ORDER BY document_id
FOR UPDATE;

-- name: receipts
SELECT document_id, service, removed, remaining, confirmed_at
FROM deletion_receipt
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
ORDER BY document_id, service;

-- name: write_receipts
INSERT INTO deletion_receipt (workspace_id, document_id, service, removed, remaining)
SELECT %(workspace_id)s, receipt.*
FROM unnest(%(document_ids)s::uuid[], %(services)s::text[], %(removed)s::jsonb[], %(remaining)s::jsonb[]) AS receipt
ON CONFLICT (workspace_id, document_id, service)
DO UPDATE SET removed = excluded.removed, remaining = excluded.remaining, confirmed_at = now();

-- name: complete
-- The trigger wakes callers who wait for the receipts.
UPDATE deletion SET completed_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s) AND completed_at IS NULL;

-- name: mark_source_deleted
UPDATE source SET deleted_at = coalesce(deleted_at, now()), next_sync_at = NULL, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s;

-- name: insert_of_source
INSERT INTO source_deletion (workspace_id, source_id) VALUES (%(workspace_id)s, %(source_id)s) ON CONFLICT DO NOTHING;

-- name: lock_source_documents
SELECT id FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting' AND id IN (
    SELECT document_id FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
)
ORDER BY id
FOR UPDATE;

-- name: delete_source_origins
DELETE FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s;

-- name: without_origin
SELECT document_id FROM unnest(%(document_ids)s::uuid[]) AS document_id
WHERE NOT EXISTS (
    SELECT FROM origin WHERE origin.workspace_id = %(workspace_id)s AND origin.document_id = document_id.document_id
);

-- name: find_of_source
SELECT source_deletion.requested_at, max(deletion.completed_at) AS completed_at, count(deletion.document_id) AS documents,
       count(deletion.document_id) FILTER (WHERE deletion.completed_at IS NULL) AS pending_documents
FROM source_deletion
LEFT JOIN deletion
  ON deletion.workspace_id = source_deletion.workspace_id AND deletion.source_id = source_deletion.source_id
WHERE source_deletion.workspace_id = %(workspace_id)s AND source_deletion.source_id = %(source_id)s
GROUP BY source_deletion.requested_at;

-- name: source_is_pending
SELECT EXISTS (
    SELECT FROM deletion
    WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND completed_at IS NULL
);

-- name: sum_source_receipts
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
ORDER BY service;

-- name: unanswered
SELECT workspace_id, document_id
FROM deletion
WHERE completed_at IS NULL AND erased_at IS NOT NULL
  AND now() - announced_at > greatest(make_interval(secs => %(resend_after)s), announced_at - requested_at)
LIMIT 100;

-- name: announced_again
UPDATE deletion
SET announced_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND completed_at IS NULL
  AND now() - announced_at > greatest(make_interval(secs => %(resend_after)s), announced_at - requested_at);
