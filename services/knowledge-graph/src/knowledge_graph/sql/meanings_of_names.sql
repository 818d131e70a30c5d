-- By key: the entity of that name (or that it was merged into), else those that are written so, most often first.
SELECT
    wanted.key, found.uses, found.is_exact,
    entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases
FROM unnest(%(keys)s::text[], %(ids)s::text[]) AS wanted (key, id)
CROSS JOIN LATERAL (
    SELECT name.entity_id, true AS is_exact, 1::bigint AS uses
    FROM name
    WHERE name.workspace_id = %(workspace_id)s AND name.id = wanted.id AND name.is_known
    UNION ALL
    (
        SELECT surface.entity_id, false, sum(surface.uses)
        FROM surface
        WHERE surface.workspace_id = %(workspace_id)s AND surface.surface_key = wanted.key
        GROUP BY surface.entity_id
        ORDER BY sum(surface.uses) DESC, surface.entity_id
        LIMIT %(most)s
    )
) AS found
-- With a limit, so that each is looked up: the planner expects more names to be known than are.
CROSS JOIN LATERAL (
    SELECT * FROM entity WHERE entity.workspace_id = %(workspace_id)s AND entity.id = found.entity_id LIMIT 1
) AS entity
ORDER BY wanted.key, found.is_exact DESC, found.uses DESC, entity.id
