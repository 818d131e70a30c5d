UPDATE saved_search
SET name = coalesce(%(name)s, name), request = coalesce(%(request)s::jsonb, request),
    version = version + 1, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (%(version)s::integer IS NULL OR version = %(version)s)
RETURNING id, name, request, created_by, created_at, updated_at, version
