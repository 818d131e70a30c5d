-- Entities that are not what the mentions add up to: one exists while a text itself has it for a name.
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
WHERE truth.mentions IS DISTINCT FROM kept.mentions OR truth.documents IS DISTINCT FROM kept.documents
