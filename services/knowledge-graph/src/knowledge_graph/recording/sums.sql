-- name: add_relations
-- Returns the relations that were added or deleted: `change` is 1 or -1, for updating the degrees.
WITH rows AS (
    SELECT *
    FROM unnest(
        %(source_ids)s::text[], %(target_ids)s::text[], %(types)s::text[], %(weights)s::double precision[],
        %(evidences)s::integer[]
    ) AS one (source_id, target_id, relation_type, weight, evidence)
),
written AS (
    INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
    SELECT %(workspace_id)s, rows.* FROM rows
    ON CONFLICT (workspace_id, source_id, target_id, relation_type) DO UPDATE SET
        weight = relation.weight + excluded.weight, evidence = relation.evidence + excluded.evidence
    RETURNING source_id, target_id, xmax = 0 AS is_new
)
SELECT source_id, target_id, count(*)::integer AS change FROM written WHERE is_new GROUP BY source_id, target_id;

-- name: drop_relations
WITH pair AS (
    SELECT * FROM unnest(%(source_ids)s::text[], %(target_ids)s::text[]) AS rows (source_id, target_id)
),
gone AS (
    DELETE FROM relation
    USING pair
    WHERE
        relation.workspace_id = %(workspace_id)s
        AND relation.source_id = pair.source_id
        AND relation.target_id = pair.target_id
        AND (relation.evidence <= 0 OR %(all)s)
    RETURNING relation.source_id, relation.target_id
)
SELECT source_id, target_id, -count(*)::integer AS change FROM gone GROUP BY source_id, target_id;

-- name: sum_relations
WITH added AS (
    INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
    SELECT %(workspace_id)s, found.source_id, found.target_id, found.relation_type, sum(found.weight), count(*)
    FROM relation_evidence AS found
    INNER JOIN unnest(%(source_ids)s::text[], %(target_ids)s::text[]) AS pair (source_id, target_id)
        ON found.source_id = pair.source_id AND found.target_id = pair.target_id
    WHERE
        found.workspace_id = %(workspace_id)s
        AND found.source_id <> found.target_id
        AND found.status = 'current'
        AND found.closed_by IS NULL
    GROUP BY found.source_id, found.target_id, found.relation_type
    RETURNING source_id, target_id
)
SELECT source_id, target_id, count(*)::integer AS change FROM added GROUP BY source_id, target_id;

-- name: add_surfaces
INSERT INTO surface (workspace_id, entity_id, surface, entity_type, surface_key, uses, stated)
SELECT %(workspace_id)s, rows.*
FROM unnest(
    %(entity_ids)s::text[], %(surfaces)s::text[], %(types)s::text[], %(surface_keys)s::text[], %(uses)s::integer[],
    %(stated)s::integer[]
) AS rows
ON CONFLICT (workspace_id, entity_id, surface, entity_type) DO UPDATE SET
    uses = surface.uses + excluded.uses, stated = surface.stated + excluded.stated;

-- name: sum_surfaces
INSERT INTO surface (workspace_id, entity_id, surface, entity_type, surface_key, uses, stated)
SELECT
    %(workspace_id)s, entity_id, surface, entity_type, min(surface_key), count(*), count(*) FILTER (WHERE states_type)
FROM mention
WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s)
GROUP BY entity_id, surface, entity_type;

-- name: delete_entities
-- Deletes entities without a mention of their own; their remaining mentions are no longer mentions of anything.
DELETE FROM entity
WHERE
    workspace_id = %(workspace_id)s
    AND id = ANY(%(ids)s)
    AND NOT EXISTS (
        SELECT FROM name
        WHERE name.workspace_id = %(workspace_id)s AND name.entity_id = entity.id AND name.own > 0
    );

-- name: sum_entities
-- The most frequent name and type win, so the order of documents does not matter. First come types that documents state,
-- by how many do; then types by evidence; no type comes last, but before a guess that it is a person where a document
-- states otherwise. Spellings of the entity's own name come before its other names. Documents are recounted if
-- `recounted`, else adjusted by the difference.
INSERT INTO entity (workspace_id, id, name_key, name, entity_type, own_type, mentions, documents, aliases)
SELECT
    %(workspace_id)s,
    touched.id,
    name.name_key,
    spelled.surfaces[1],
    own.entity_type,
    own.entity_type,
    typed.mentions,
    CASE WHEN touched.is_recounted THEN (
        SELECT count(DISTINCT mention.document_id)
        FROM mention
        WHERE mention.workspace_id = %(workspace_id)s AND mention.entity_id = touched.id
    ) ELSE touched.documents END,
    spelled.surfaces[2:20]
FROM unnest(%(ids)s::text[], %(documents)s::integer[], %(recounted)s::boolean[])
    AS touched (id, documents, is_recounted)
INNER JOIN name ON name.workspace_id = %(workspace_id)s AND name.id = touched.id
CROSS JOIN LATERAL (
    SELECT
        sum(each.uses)::integer AS mentions,
        (array_agg(
            each.entity_type
            ORDER BY
                each.entity_type = '',
                CASE WHEN each.entity_type = ANY(%(untyped)s::text[]) THEN 0 ELSE each.stated END DESC,
                each.entity_type <> ALL(%(evident)s::text[]),
                each.entity_type = ANY(%(beings)s::text[]) AND each.is_refuted,
                each.entity_type = ANY(%(untyped)s::text[]),
                each.uses DESC,
                each.entity_type
        ))[1] AS entity_type
    FROM (
        SELECT
            surface.entity_type,
            sum(surface.uses) AS uses,
            sum(surface.stated) AS stated,
            bool_or(surface.entity_type = ANY(%(untyped)s::text[]) AND sum(surface.stated) > 0) OVER () AS is_refuted
        FROM surface
        WHERE surface.workspace_id = %(workspace_id)s AND surface.entity_id = touched.id
        GROUP BY surface.entity_type
    ) AS each
) AS typed
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT correction.entity_type
        FROM correction
        INNER JOIN name AS corrected
            ON corrected.workspace_id = %(workspace_id)s AND corrected.id = correction.entity_id
        WHERE
            correction.workspace_id = %(workspace_id)s
            AND correction.kind = 'type'
            AND corrected.entity_id = touched.id
        ORDER BY correction.created_at DESC, correction.id DESC
        LIMIT 1
    ), typed.entity_type) AS entity_type
) AS own
CROSS JOIN LATERAL (
    SELECT array_agg(each.surface ORDER BY each.is_its_name DESC, each.uses DESC, each.surface) AS surfaces
    FROM (
        SELECT surface.surface, bool_or(surface.surface_key = name.name_key) AS is_its_name, sum(surface.uses) AS uses
        FROM surface
        WHERE surface.workspace_id = %(workspace_id)s AND surface.entity_id = touched.id
        GROUP BY surface.surface
    ) AS each
) AS spelled
WHERE typed.mentions > 0 AND EXISTS (
    SELECT FROM name AS one
    WHERE one.workspace_id = %(workspace_id)s AND one.entity_id = touched.id AND one.own > 0
)
ORDER BY touched.id
ON CONFLICT (workspace_id, id) DO UPDATE SET
    name = excluded.name,
    entity_type = excluded.entity_type,
    own_type = excluded.own_type,
    mentions = excluded.mentions,
    documents = CASE
        WHEN excluded.id = ANY(%(recounted_ids)s) THEN excluded.documents
        ELSE entity.documents + excluded.documents
    END,
    aliases = excluded.aliases;

-- name: add_degrees
UPDATE entity SET outgoing = entity.outgoing + changed.outgoing, incoming = entity.incoming + changed.incoming
FROM unnest(%(ids)s::text[], %(outgoing)s::integer[], %(incoming)s::integer[]) AS changed (id, outgoing, incoming)
WHERE entity.workspace_id = %(workspace_id)s AND entity.id = changed.id;

-- name: count_degrees
UPDATE entity SET
    outgoing = (
        SELECT count(*) FROM relation
        WHERE relation.workspace_id = entity.workspace_id AND relation.source_id = entity.id
    ),
    incoming = (
        SELECT count(*) FROM relation
        WHERE relation.workspace_id = entity.workspace_id AND relation.target_id = entity.id
    )
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: wrong_entities
-- Entities that differ from the sum of their mentions. An entity exists while some text itself shows that it is a name.
SELECT id
FROM (
    SELECT entity_id AS id, count(*) AS mentions, count(DISTINCT document_id) AS documents
    FROM mention
    WHERE workspace_id = %(workspace_id)s
    GROUP BY entity_id
    HAVING bool_or(origin <> 'known')
) AS truth
FULL JOIN (
    SELECT id, mentions, documents FROM entity WHERE workspace_id = %(workspace_id)s
) AS kept USING (id)
WHERE truth.mentions IS DISTINCT FROM kept.mentions OR truth.documents IS DISTINCT FROM kept.documents;

-- name: wrong_relations
-- Pairs whose relations differ from the sum of their evidence.
SELECT DISTINCT source_id, target_id
FROM (
    SELECT source_id, target_id, relation_type, sum(weight) AS weight, count(*) AS evidence
    FROM relation_evidence
    WHERE
        workspace_id = %(workspace_id)s AND source_id <> target_id AND status = 'current' AND closed_by IS NULL
    GROUP BY source_id, target_id, relation_type
) AS truth
FULL JOIN (
    SELECT source_id, target_id, relation_type, weight, evidence
    FROM relation
    WHERE workspace_id = %(workspace_id)s
) AS kept USING (source_id, target_id, relation_type)
WHERE
    truth.evidence IS DISTINCT FROM kept.evidence
    OR abs(truth.weight - kept.weight) > 0.001 * greatest(truth.weight, kept.weight);

-- name: wrong_degrees
SELECT entity.id
FROM entity
LEFT JOIN (
    SELECT source_id AS id, count(*) AS number FROM relation WHERE workspace_id = %(workspace_id)s GROUP BY source_id
) AS outgoing USING (id)
LEFT JOIN (
    SELECT target_id AS id, count(*) AS number FROM relation WHERE workspace_id = %(workspace_id)s GROUP BY target_id
) AS incoming USING (id)
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (
        entity.outgoing <> coalesce(outgoing.number, 0) OR entity.incoming <> coalesce(incoming.number, 0)
    );

-- name: delete_surfaces
DELETE FROM surface WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s);

-- name: delete_unused_surfaces
DELETE FROM surface WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s) AND uses <= 0;
