-- Every name of the entities, and whether its entity has an own mention.
SELECT
    id, hash, entity_id, own, evidence, is_known, is_widespread,
    sum(own) OVER (PARTITION BY entity_id) > 0 AS is_alive
FROM name
WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s)
