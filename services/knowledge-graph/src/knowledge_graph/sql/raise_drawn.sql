INSERT INTO projection_state (workspace_id, drawn) VALUES (%(workspace_id)s, 1)
ON CONFLICT (workspace_id) DO UPDATE SET drawn = projection_state.drawn + 1
