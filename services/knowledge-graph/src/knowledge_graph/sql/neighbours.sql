-- The strongest relations of each entity in both directions: the indexes bound what a hub costs.
SELECT near.origin, entity.id, entity.name, entity.mentions, near.weight
FROM unnest(%(ids)s::text[]) AS origin (id)
CROSS JOIN LATERAL (
    SELECT origin.id AS origin, either.other, max(either.weight) AS weight
    FROM (
        (
            SELECT target_id AS other, weight
            FROM relation
            WHERE
                workspace_id = %(workspace_id)s
                AND source_id = origin.id
                AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]))
            ORDER BY weight DESC, target_id, relation_type
            LIMIT %(fan_out)s
        )
        UNION ALL
        (
            SELECT source_id AS other, weight
            FROM relation
            WHERE
                workspace_id = %(workspace_id)s
                AND target_id = origin.id
                AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]))
            ORDER BY weight DESC, source_id, relation_type
            LIMIT %(fan_out)s
        )
    ) AS either
    WHERE either.weight >= %(min_weight)s
    GROUP BY either.other
    ORDER BY max(either.weight) DESC, either.other
    LIMIT %(fan_out)s
) AS near
INNER JOIN entity
    ON entity.workspace_id = %(workspace_id)s AND entity.id = near.other AND entity.mentions >= %(min_mentions)s
ORDER BY near.origin, near.weight DESC, entity.id
