-- Of each entity the chunks that are about it, and those that mention it; no mentions of one that has too many of them.
-- One row more than `most` says that too many are about it. `titled`: the document's title has the name inside it, as
-- words; where an entity has more than `titles` mentions, titles are not compared.
SELECT place.entity_id, place.chunk_id, place.document_id, place.about, place.titled
FROM unnest(%(ids)s::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT about.entity_id, about.chunk_id, about.document_id, about.about, false AS titled
    FROM (
        SELECT mention.entity_id, mention.chunk_id, mention.document_id, mention.about
        FROM mention
        WHERE mention.workspace_id = %(workspace_id)s AND mention.entity_id = wanted.id AND mention.about IS NOT NULL
        LIMIT %(most)s + 1
    ) AS about
    UNION ALL
    SELECT mentioned.entity_id, mentioned.chunk_id, mentioned.document_id, NULL, coalesce(
        (
            SELECT CASE
                WHEN strpos(lower(document.title), lower(mentioned.name)) = 0 THEN false
                WHEN length(document.title) = length(mentioned.name) THEN false
                ELSE strpos(
                    ' ' || regexp_replace(lower(document.title), '[^[:alnum:]]+', ' ', 'g') || ' ',
                    ' ' || regexp_replace(lower(mentioned.name), '[^[:alnum:]]+', ' ', 'g') || ' '
                ) > 0
            END
            FROM graphed_document AS document
            WHERE
                document.workspace_id = %(workspace_id)s
                AND document.document_id = mentioned.document_id
                AND mentioned.mentions <= %(titles)s
        ),
        false
    )
    FROM (
        SELECT DISTINCT mention.entity_id, mention.chunk_id, mention.document_id, entity.name, entity.mentions
        FROM entity
        INNER JOIN mention ON mention.workspace_id = entity.workspace_id AND mention.entity_id = entity.id
        WHERE
            entity.workspace_id = %(workspace_id)s
            AND entity.id = wanted.id
            AND entity.mentions <= %(most)s
            AND mention.about IS NULL
    ) AS mentioned
) AS place
