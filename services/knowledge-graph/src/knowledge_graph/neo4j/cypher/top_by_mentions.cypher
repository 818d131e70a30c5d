MATCH (e:Entity {workspace_id: $workspace_id})
WHERE ($entity_type IS NULL OR e.entity_type = $entity_type) AND e.mentions >= $min_mentions
RETURN e.id AS id, e.name_key AS name_key, e.name AS name, e.entity_type AS entity_type, e.mentions AS mentions,
       e.documents AS documents, e.aliases AS aliases, toFloat(e.mentions) AS score
ORDER BY score DESC, id
LIMIT $limit
