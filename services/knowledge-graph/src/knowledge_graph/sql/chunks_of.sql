-- Triples that users brought are in no chunk.
SELECT found.entity_id, found.chunk_id, found.document_id, found.mentions
FROM unnest(%(ids)s::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT mention.entity_id, mention.chunk_id, mention.document_id, count(*) AS mentions
    FROM mention
    WHERE
        mention.workspace_id = %(workspace_id)s
        AND mention.entity_id = wanted.id
        AND NOT starts_with(mention.chunk_id, 'import:')
    GROUP BY mention.entity_id, mention.chunk_id, mention.document_id
    ORDER BY count(*) DESC, mention.chunk_id
    LIMIT %(limit)s
) AS found
ORDER BY found.entity_id, found.mentions DESC, found.chunk_id
