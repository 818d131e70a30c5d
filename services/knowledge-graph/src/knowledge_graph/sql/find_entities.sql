-- `rank`: 0 the entity of that name, 1 what is also called so, 2 what begins so.
WITH found AS (
    SELECT entity.id, 0 AS rank, entity.mentions AS uses
    FROM entity
    WHERE entity.workspace_id = %(workspace_id)s AND entity.id = %(id)s
    UNION ALL
    SELECT name.entity_id, 1, 2147483647
    FROM name
    WHERE name.workspace_id = %(workspace_id)s AND name.id = %(id)s
    UNION ALL
    SELECT surface.entity_id, 1, sum(surface.uses)::integer
    FROM surface
    WHERE surface.workspace_id = %(workspace_id)s AND surface.surface_key = %(key)s
    GROUP BY surface.entity_id
    UNION ALL
    (
        SELECT entity.id, 2, entity.mentions
        FROM entity
        WHERE
            entity.workspace_id = %(workspace_id)s
            AND entity.name_key >= %(key)s
            AND entity.name_key < %(after_prefix)s
        ORDER BY entity.mentions DESC, entity.id
        LIMIT %(limit)s
    )
),
best AS (
    SELECT DISTINCT ON (id) id, rank, uses FROM found ORDER BY id, rank, uses DESC
)
SELECT
    entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases,
    (ARRAY['exact', 'alias', 'prefix'])[best.rank + 1] AS how, 1.0::real AS similarity
FROM best
INNER JOIN entity ON entity.workspace_id = %(workspace_id)s AND entity.id = best.id
ORDER BY best.rank, best.uses DESC, entity.id
LIMIT %(limit)s
