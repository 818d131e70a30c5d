-- What the chunks name, in the order of the text.
SELECT
    mention.chunk_id, mention.document_id, mention.entity_id, mention.about, mention.sentence_start,
    mention.sentence_end, entity.name, entity.entity_type, entity.mentions
FROM unnest(%(chunk_ids)s::text[], %(document_ids)s::uuid[]) AS wanted (chunk_id, document_id)
CROSS JOIN LATERAL (
    SELECT *
    FROM mention
    WHERE
        mention.workspace_id = %(workspace_id)s
        AND mention.chunk_id = wanted.chunk_id
        AND mention.document_id = wanted.document_id
    ORDER BY mention.number
    LIMIT %(most)s
) AS mention
CROSS JOIN LATERAL (
    SELECT * FROM entity WHERE entity.workspace_id = %(workspace_id)s AND entity.id = mention.entity_id LIMIT 1
) AS entity
ORDER BY mention.chunk_id, mention.document_id, mention.number
