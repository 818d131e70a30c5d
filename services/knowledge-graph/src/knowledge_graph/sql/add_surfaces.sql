INSERT INTO surface (workspace_id, entity_id, surface, entity_type, surface_key, uses)
SELECT %(workspace_id)s, rows.*
FROM unnest(
    %(entity_ids)s::text[], %(surfaces)s::text[], %(types)s::text[], %(surface_keys)s::text[], %(uses)s::integer[]
) AS rows
ON CONFLICT (workspace_id, entity_id, surface, entity_type) DO UPDATE SET uses = surface.uses + excluded.uses
