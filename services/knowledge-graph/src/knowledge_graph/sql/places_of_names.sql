-- Of each entity the chunks that are about it, and those that mention it; no mentions of one that has too many of them.
-- One row more than `most` says that too many are about it.
SELECT place.entity_id, place.chunk_id, place.document_id, place.about
FROM unnest(%(ids)s::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT about.entity_id, about.chunk_id, about.document_id, about.about
    FROM (
        SELECT mention.entity_id, mention.chunk_id, mention.document_id, mention.about
        FROM mention
        WHERE mention.workspace_id = %(workspace_id)s AND mention.entity_id = wanted.id AND mention.about IS NOT NULL
        LIMIT %(most)s + 1
    ) AS about
    UNION ALL
    SELECT mention.entity_id, mention.chunk_id, mention.document_id, NULL
    FROM entity
    INNER JOIN mention ON mention.workspace_id = entity.workspace_id AND mention.entity_id = entity.id
    WHERE
        entity.workspace_id = %(workspace_id)s
        AND entity.id = wanted.id
        AND entity.mentions <= %(most)s
        AND mention.about IS NULL
    GROUP BY mention.entity_id, mention.chunk_id, mention.document_id
) AS place
