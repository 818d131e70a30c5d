INSERT INTO saved_search (workspace_id, id, name, request, created_by)
VALUES (%(workspace_id)s, %(id)s, %(name)s, %(request)s, %(user_id)s)
ON CONFLICT (workspace_id, id) DO NOTHING
