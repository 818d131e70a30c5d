-- name: is_administrators
SELECT true FROM administrator_workspace WHERE workspace_id = %(workspace_id)s;

-- name: forget_others
DELETE FROM administrator_workspace WHERE workspace_id <> %(chosen)s AND told_at <= %(told_at)s;

-- name: choose
-- Changes nothing if a later announcement named another workspace.
INSERT INTO administrator_workspace (workspace_id, told_at)
SELECT %(chosen)s, %(told_at)s WHERE NOT EXISTS (SELECT FROM administrator_workspace WHERE workspace_id <> %(chosen)s)
ON CONFLICT (workspace_id) DO UPDATE SET told_at = greatest(administrator_workspace.told_at, excluded.told_at);
