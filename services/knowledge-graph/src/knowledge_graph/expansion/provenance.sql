-- name: entities
SELECT {entity}
FROM entity
WHERE entity.workspace_id = %(workspace_id)s AND entity.id = ANY(%(ids)s)
ORDER BY entity.id;

-- name: meanings
-- By key: the entity of that name (or the one it was merged into), else all entities with that spelling, by frequency.
SELECT
    wanted.key, found.uses, found.is_exact,
    {entity}
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
-- The LIMIT makes the planner look up each row; it expects more names to be known than are.
CROSS JOIN LATERAL (
    SELECT * FROM entity WHERE entity.workspace_id = %(workspace_id)s AND entity.id = found.entity_id LIMIT 1
) AS entity
ORDER BY wanted.key, found.is_exact DESC, found.uses DESC, entity.id;

-- name: names_like
-- By key: entities with similar names, without concepts.
SELECT
    wanted.key, found.similarity,
    {entity}
FROM unnest(%(keys)s::text[]) AS wanted (key)
CROSS JOIN LATERAL similar_entities(wanted.key, %(most)s) AS found
CROSS JOIN LATERAL (
    SELECT * FROM entity WHERE entity.workspace_id = %(workspace_id)s AND entity.id = found.id LIMIT 1
) AS entity
WHERE entity.entity_type <> 'CONCEPT'
ORDER BY wanted.key, found.similarity DESC, entity.mentions DESC, entity.id;

-- name: places
-- The chunks about each entity of `about`, and those that mention one of `mentioned`; no mentions if it has too many.
-- `most` + 1 rows mean that too many chunks are about it. `titled`: the document's title contains the name as whole
-- words; titles are not compared if the entity has more than `titles` mentions.
SELECT found.entity_id, found.chunk_id, found.document_id, found.about, false AS titled
FROM unnest(%(about)s::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT mention.entity_id, mention.chunk_id, mention.document_id, mention.about
    FROM mention
    WHERE mention.workspace_id = %(workspace_id)s AND mention.entity_id = wanted.id AND mention.about IS NOT NULL
    LIMIT %(most)s + 1
) AS found
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
FROM unnest(%(mentioned)s::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT DISTINCT mention.entity_id, mention.chunk_id, mention.document_id, entity.name, entity.mentions
    FROM entity
    INNER JOIN mention ON mention.workspace_id = entity.workspace_id AND mention.entity_id = entity.id
    WHERE
        entity.workspace_id = %(workspace_id)s
        AND entity.id = wanted.id
        AND entity.mentions <= %(most)s
        AND mention.about IS NULL
) AS mentioned;

-- name: chunks_about_names
-- The chunks that are surely about what these names stand for, without concepts.
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
) AS about;

-- name: mentions
-- The names in the chunks, in text order.
SELECT
    mention.chunk_id, mention.document_id, mention.entity_id, mention.about, mention.sentence_start,
    mention.sentence_end, entity.name, entity.entity_type, entity.mentions, entity.documents
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
ORDER BY mention.chunk_id, mention.document_id, mention.number;

-- name: stated_between
-- What the chunks state about the two names, in either direction, most certain first. OFFSET 0 makes the planner look up
-- each pair; it would read all evidence of the workspace.
SELECT pair.number, evidence.relation_type, evidence.phrase, evidence.span_start, evidence.span_end
FROM unnest(
    %(numbers)s::integer[], %(sources)s::text[], %(targets)s::text[], %(chunk_ids)s::text[]
) AS pair (number, source_id, target_id, chunk_id)
CROSS JOIN LATERAL (
    SELECT *
    FROM relation_evidence AS known
    WHERE
        known.workspace_id = %(workspace_id)s
        AND known.source_id = pair.source_id
        AND known.target_id = pair.target_id
        AND known.chunk_id = pair.chunk_id
        AND known.method <> 'cooccurrence'
        AND known.status = 'current'
        AND known.closed_by IS NULL
    OFFSET 0
) AS evidence
ORDER BY pair.number, evidence.confidence DESC, evidence.number;
