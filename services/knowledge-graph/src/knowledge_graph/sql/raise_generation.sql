INSERT INTO graph_generation (workspace_id, generation) VALUES (%(workspace_id)s, 1)
ON CONFLICT (workspace_id) DO UPDATE SET generation = graph_generation.generation + 1
