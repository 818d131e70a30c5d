INSERT INTO app_user (id, name, is_admin) VALUES (%(id)s, %(name)s, %(is_admin)s)
RETURNING id, name, is_admin, created_at
