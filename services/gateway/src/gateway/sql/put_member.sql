INSERT INTO membership (workspace_id, user_id, role) VALUES (%(workspace_id)s, %(user_id)s, %(role)s)
ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role
