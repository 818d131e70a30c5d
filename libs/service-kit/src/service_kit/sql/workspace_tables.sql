-- Every table of the service with rows of workspaces, and those that refer to it by a foreign key.
SELECT c.relname, ARRAY(
    SELECT DISTINCT referring.relname::text
    FROM pg_constraint AS k
    JOIN pg_class AS referring ON referring.oid = k.conrelid
    WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conrelid <> c.oid
)
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
ORDER BY c.relname
