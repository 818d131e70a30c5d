-- The entities that are one step further in one direction, each by the smallest id that leads to it.
SELECT step.id, entity.name, step.via
FROM (
    SELECT other AS id, min(origin) AS via
    FROM (
        SELECT source_id AS origin, target_id AS other
        FROM relation
        WHERE
            %(outwards)s
            AND workspace_id = %(workspace_id)s
            AND source_id = ANY(%(ids)s)
            AND relation_type = ANY(%(types)s)
        UNION ALL
        SELECT target_id AS origin, source_id AS other
        FROM relation
        WHERE
            NOT %(outwards)s
            AND workspace_id = %(workspace_id)s
            AND target_id = ANY(%(ids)s)
            AND relation_type = ANY(%(types)s)
    ) AS either
    WHERE other <> ALL(%(seen)s)
    GROUP BY other
    ORDER BY other
    LIMIT %(limit)s
) AS step
INNER JOIN entity ON entity.workspace_id = %(workspace_id)s AND entity.id = step.id
ORDER BY step.id
