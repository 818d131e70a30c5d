-- Name and type are those most often used, so that the order of documents does not matter; a spelling of the name that
-- the entity goes by comes before other names of it. `recounted` documents are counted, others changed by so many.
INSERT INTO entity (workspace_id, id, name_key, name, entity_type, mentions, documents, aliases)
SELECT
    %(workspace_id)s,
    touched.id,
    name.name_key,
    spelled.surfaces[1],
    typed.entity_type,
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
        (array_agg(each.entity_type ORDER BY each.entity_type = '', each.uses DESC, each.entity_type))[1] AS entity_type
    FROM (
        SELECT surface.entity_type, sum(surface.uses) AS uses
        FROM surface
        WHERE surface.workspace_id = %(workspace_id)s AND surface.entity_id = touched.id
        GROUP BY surface.entity_type
    ) AS each
) AS typed
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
    mentions = excluded.mentions,
    documents = CASE
        WHEN excluded.id = ANY(%(recounted_ids)s) THEN excluded.documents
        ELSE entity.documents + excluded.documents
    END,
    aliases = excluded.aliases
