-- Name and type are those most often used, so that the order of documents does not matter.
INSERT INTO entity (workspace_id, id, name_key, name, entity_type, mentions, documents, aliases)
SELECT
    %(workspace_id)s,
    totals.entity_id,
    totals.name_key,
    surfaces.aliases[1],
    totals.entity_type,
    totals.mentions,
    totals.documents,
    surfaces.aliases[2:20]
FROM (
    SELECT
        entity_id,
        min(name_key) AS name_key,
        mode() WITHIN GROUP (ORDER BY entity_type COLLATE "C") AS entity_type,
        count(*) AS mentions,
        count(DISTINCT document_id) AS documents
    FROM mention
    WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s)
    GROUP BY entity_id
) AS totals
INNER JOIN (
    SELECT entity_id, array_agg(surface ORDER BY uses DESC, surface COLLATE "C") AS aliases
    FROM (
        SELECT entity_id, surface, count(*) AS uses
        FROM mention
        WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s)
        GROUP BY entity_id, surface
    ) AS counted
    GROUP BY entity_id
) AS surfaces ON surfaces.entity_id = totals.entity_id
ORDER BY totals.entity_id
ON CONFLICT (workspace_id, id) DO UPDATE SET
    name = excluded.name,
    entity_type = excluded.entity_type,
    mentions = excluded.mentions,
    documents = excluded.documents,
    aliases = excluded.aliases
