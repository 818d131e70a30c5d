-- name: entities
SELECT {entity}
FROM entity
WHERE entity.workspace_id = %(workspace_id)s AND entity.id = ANY(%(ids)s)
ORDER BY entity.id;

-- name: list_entities
SELECT {entity}
FROM entity
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (%(prefix)s::text IS NULL OR (entity.name_key >= %(prefix)s AND entity.name_key < %(after_prefix)s))
    AND (%(entity_type)s::text IS NULL OR entity.entity_type = %(entity_type)s)
    AND entity.mentions >= %(min_mentions)s
    AND (
        %(after_mentions)s::bigint IS NULL
        OR entity.mentions < %(after_mentions)s
        OR (entity.mentions = %(after_mentions)s AND entity.id > %(after_id)s)
    )
ORDER BY entity.mentions DESC, entity.id
LIMIT %(limit)s;

-- name: find_entities
-- `rank`: 0 the entity of that name, 1 another of its names, 2 a prefix.
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
    {entity},
    (ARRAY['exact', 'alias', 'prefix'])[best.rank + 1] AS how, 1.0::real AS similarity
FROM best
INNER JOIN entity ON entity.workspace_id = %(workspace_id)s AND entity.id = best.id
ORDER BY best.rank, best.uses DESC, entity.id
LIMIT %(limit)s;

-- name: find_similar
SELECT
    {entity},
    'fuzzy' AS how, found.similarity
FROM similar_entities(%(key)s, %(limit)s) AS found
INNER JOIN entity ON entity.workspace_id = %(workspace_id)s AND entity.id = found.id
ORDER BY found.similarity DESC, entity.mentions DESC, entity.id;

-- name: evidence
SELECT document_id, chunk_id, span_start AS start, span_end AS "end", confidence, method, phrase
FROM relation_evidence
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = %(source_id)s
    AND target_id = %(target_id)s
    AND relation_type = %(relation_type)s
    AND status = 'current'
    AND closed_by IS NULL
ORDER BY confidence DESC, document_id, number
LIMIT %(limit)s;

-- name: not_current
-- Statements of what was, is planned or is denied about these entities, in either direction, latest first. A statement
-- closed by a later document is past; without a date of its own it has the date of that document.
SELECT
    found.document_id, found.chunk_id, found.span_start AS start, found.span_end AS "end", found.confidence,
    found.method, found.phrase, found.source_id, found.target_id, found.relation_type,
    CASE found.status WHEN 'current' THEN 'past' ELSE found.status END AS status,
    coalesce(CASE WHEN found.status <> 'current' THEN found.dated END, closing.dated) AS dated
FROM (
    SELECT document_id, number FROM relation_evidence
    WHERE
        workspace_id = %(workspace_id)s
        AND source_id = ANY(%(ids)s)
        AND (status <> 'current' OR closed_by IS NOT NULL)
    UNION
    SELECT document_id, number FROM relation_evidence
    WHERE
        workspace_id = %(workspace_id)s
        AND target_id = ANY(%(ids)s)
        AND (status <> 'current' OR closed_by IS NOT NULL)
) AS one
INNER JOIN relation_evidence AS found
    ON found.workspace_id = %(workspace_id)s
    AND found.document_id = one.document_id
    AND found.number = one.number
INNER JOIN graphed_document AS document
    ON document.workspace_id = %(workspace_id)s AND document.document_id = found.document_id
LEFT JOIN graphed_document AS closing
    ON closing.workspace_id = %(workspace_id)s AND closing.document_id = found.closed_by
WHERE
    found.source_id <> found.target_id
    AND (%(types)s::text[] IS NULL OR found.relation_type = ANY(%(types)s::text[]))
ORDER BY document.dated DESC NULLS LAST, found.confidence DESC, found.document_id, found.number
LIMIT %(limit)s;

-- name: neighbours
-- The strongest relations of each entity in both directions; the indexes bound the cost of a hub.
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
ORDER BY near.origin, near.weight DESC, entity.id;

-- name: links
-- Every entity linked with one of the ids, in either direction.
SELECT source_id AS origin, target_id AS other
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = ANY(%(ids)s)
    AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]))
UNION
SELECT target_id AS origin, source_id AS other
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND target_id = ANY(%(ids)s)
    AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]));

-- name: steps
-- The entities one step further in one direction, each with the smallest id that leads to it.
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
ORDER BY step.id;

-- name: successors
SELECT DISTINCT target_id AS id
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = %(id)s
    AND target_id = ANY(%(among)s)
    AND relation_type = ANY(%(types)s)
ORDER BY target_id;

-- name: relations_among
SELECT {relation}
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = ANY(%(ids)s)
    AND target_id = ANY(%(ids)s)
    AND (%(types)s::text[] IS NULL OR relation_type = ANY(%(types)s::text[]))
ORDER BY weight DESC, source_id, target_id, relation_type
LIMIT %(limit)s;

-- name: relations_of
SELECT {relation}
FROM (
    (
        SELECT * FROM relation
        WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s
        ORDER BY weight DESC, target_id, relation_type
        LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT * FROM relation
        WHERE workspace_id = %(workspace_id)s AND target_id = %(id)s
        ORDER BY weight DESC, source_id, relation_type
        LIMIT %(limit)s
    )
) AS either
ORDER BY weight DESC, source_id, target_id, relation_type
LIMIT %(limit)s;

-- name: chunks_of
-- Imported triples are in no chunk.
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
ORDER BY found.entity_id, found.mentions DESC, found.chunk_id;

-- name: statistics
SELECT
    (SELECT count(*) FROM entity WHERE workspace_id = %(workspace_id)s) AS entities,
    (SELECT count(*) FROM relation WHERE workspace_id = %(workspace_id)s) AS relations,
    (SELECT count(*) FROM graphed_document WHERE workspace_id = %(workspace_id)s AND method <> 'user') AS documents;

-- name: counts
SELECT 'entity' AS counted, entity_type AS kind, count(*)::integer AS number, sum(mentions)::bigint AS mentions
FROM entity
WHERE workspace_id = %(workspace_id)s
GROUP BY entity_type
UNION ALL
SELECT 'relation', relation_type, count(*)::integer, 0
FROM relation
WHERE workspace_id = %(workspace_id)s
GROUP BY relation_type
UNION ALL
SELECT 'document', '', count(*)::integer, 0 FROM graphed_document WHERE workspace_id = %(workspace_id)s AND method <> 'user';

-- name: top_by_degree
SELECT
    {entity},
    (entity.outgoing + entity.incoming)::double precision AS score
FROM entity
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (%(entity_type)s::text IS NULL OR entity.entity_type = %(entity_type)s)
    AND entity.mentions >= %(min_mentions)s
ORDER BY entity.outgoing + entity.incoming DESC, entity.id
LIMIT %(limit)s;

-- name: top_by_documents
SELECT
    {entity},
    entity.documents::double precision AS score
FROM entity
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (%(entity_type)s::text IS NULL OR entity.entity_type = %(entity_type)s)
    AND entity.mentions >= %(min_mentions)s
ORDER BY entity.documents DESC, entity.id
LIMIT %(limit)s;

-- name: top_by_mentions
SELECT
    {entity},
    entity.mentions::double precision AS score
FROM entity
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (%(entity_type)s::text IS NULL OR entity.entity_type = %(entity_type)s)
    AND entity.mentions >= %(min_mentions)s
ORDER BY entity.mentions DESC, entity.id
LIMIT %(limit)s;

-- name: degrees
SELECT id, outgoing, incoming FROM entity WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: list_documents
-- `queued`: the document's current state is not projected yet. Imported triples are not documents.
SELECT
    document.document_id,
    document.version,
    (
        SELECT count(*) FROM mention
        WHERE mention.workspace_id = document.workspace_id AND mention.document_id = document.document_id
    ) AS mentions,
    EXISTS (
        SELECT FROM projection_queue AS queue
        WHERE
            queue.workspace_id = document.workspace_id
            AND (
                queue.kind = 'workspace'
                OR (queue.kind IN ('document', 'mentions') AND queue.id = document.document_id::text)
            )
    ) AS queued
FROM graphed_document AS document
WHERE
    document.workspace_id = %(workspace_id)s
    AND document.method <> 'user'
    AND (%(after)s::uuid IS NULL OR document.document_id > %(after)s::uuid)
ORDER BY document.document_id
LIMIT %(limit)s;

-- name: projected_version
-- Returns no row while a change is waiting to be projected.
SELECT coalesce((SELECT version FROM projection_state WHERE workspace_id = %(workspace_id)s), 0) AS version
WHERE NOT EXISTS (SELECT FROM projection_queue WHERE workspace_id = %(workspace_id)s);
