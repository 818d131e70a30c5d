INSERT INTO workspace (id, name) VALUES (%(id)s, %(name)s) RETURNING id, name, created_at
