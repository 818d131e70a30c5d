WITH gone AS (
    DELETE FROM mention
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
    RETURNING entity_id, name_id, name_key, surface, surface_key, entity_type, origin
)
SELECT
    entity_id, name_id, min(name_key) AS name_key, surface, min(surface_key) AS surface_key, entity_type,
    origin <> 'known' AS is_own, count(*)::integer AS uses
FROM gone
GROUP BY entity_id, name_id, surface, entity_type, origin <> 'known'
