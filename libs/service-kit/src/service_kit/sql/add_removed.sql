UPDATE deleted_workspace
SET removed = removed || jsonb_build_object(
    %(kind)s::text, coalesce((removed ->> %(kind)s)::bigint, 0) + %(count)s::bigint
)
WHERE workspace_id = %(workspace_id)s
