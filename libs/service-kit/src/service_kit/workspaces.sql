-- name: is_deleted
SELECT EXISTS (SELECT FROM deleted_workspace WHERE workspace_id = %(workspace_id)s);

-- name: waiting
-- Returns the workspaces whose rows are still to be deleted, oldest deletion first.
SELECT workspace_id FROM deleted_workspace WHERE purged_at IS NULL ORDER BY deleted_at;

-- name: add_removed
-- Adds to the count of deleted rows of a kind.
UPDATE deleted_workspace
SET removed = removed || jsonb_build_object(
    %(kind)s::text, coalesce((removed ->> %(kind)s)::bigint, 0) + %(count)s::bigint
)
WHERE workspace_id = %(workspace_id)s;

-- name: finish
-- Marks the workspace as purged; returns the counts.
UPDATE deleted_workspace SET purged_at = now() WHERE workspace_id = %(workspace_id)s RETURNING removed;

-- name: tables
-- Returns every table of the service with rows of workspaces, and those that refer to it by a foreign key.
SELECT c.relname::text AS name, ARRAY(
    SELECT DISTINCT referring.relname::text
    FROM pg_constraint AS k
    JOIN pg_class AS referring ON referring.oid = k.conrelid
    WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conrelid <> c.oid
) AS referring
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE
    n.nspname = current_schema()
    AND c.relkind = 'r'
    AND c.relname <> 'deleted_workspace'
    AND EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attname = 'workspace_id' AND NOT a.attisdropped
    )
ORDER BY c.relname;
