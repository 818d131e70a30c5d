SELECT id, name, request, created_by, created_at, updated_at, version
FROM saved_search
WHERE workspace_id = %(workspace_id)s AND id = %(id)s
