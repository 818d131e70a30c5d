MATCH (e:Entity {workspace_id: $workspace_id})
WHERE ($prefix IS NULL OR e.name_key STARTS WITH $prefix)
  AND ($entity_type IS NULL OR e.entity_type = $entity_type)
  AND e.mentions >= $min_mentions
  AND ($after_mentions IS NULL
       OR e.mentions < $after_mentions
       OR (e.mentions = $after_mentions AND e.id > $after_id))
RETURN e.id AS id, e.name_key AS name_key, e.name AS name, e.entity_type AS entity_type, e.mentions AS mentions,
       e.documents AS documents, e.aliases AS aliases
ORDER BY mentions DESC, id
LIMIT $limit
