-- The chunks that are surely about what these names stand for, concepts left out.
SELECT wanted.id AS entity_id, about.chunk_id, about.document_id, about.about
FROM unnest(%(ids)s::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT name.entity_id
    FROM name
    WHERE name.workspace_id = %(workspace_id)s AND name.id = wanted.id AND name.is_known
    LIMIT 1
) AS known
CROSS JOIN LATERAL (
    SELECT entity.id
    FROM entity
    WHERE entity.workspace_id = %(workspace_id)s AND entity.id = known.entity_id AND entity.entity_type <> 'CONCEPT'
    LIMIT 1
) AS entity
CROSS JOIN LATERAL (
    SELECT mention.chunk_id, mention.document_id, mention.about
    FROM mention
    WHERE
        mention.workspace_id = %(workspace_id)s
        AND mention.entity_id = entity.id
        AND mention.about IS NOT NULL
        AND mention.about <> 'subject'
    LIMIT %(most)s + 1
) AS about
