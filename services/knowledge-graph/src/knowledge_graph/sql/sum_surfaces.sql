INSERT INTO surface (workspace_id, entity_id, surface, entity_type, surface_key, uses)
SELECT %(workspace_id)s, entity_id, surface, entity_type, min(surface_key), count(*)
FROM mention
WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s)
GROUP BY entity_id, surface, entity_type
