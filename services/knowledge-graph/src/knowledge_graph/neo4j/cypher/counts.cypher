MATCH (e:Entity {workspace_id: $workspace_id})
RETURN 'entity' AS counted, e.entity_type AS kind, count(*) AS number, sum(e.mentions) AS mentions
UNION ALL
MATCH (:Entity {workspace_id: $workspace_id})-[r:RELATED {workspace_id: $workspace_id}]->()
RETURN 'relation' AS counted, r.relation_type AS kind, count(*) AS number, 0 AS mentions
UNION ALL
MATCH (d:Document {workspace_id: $workspace_id})
RETURN 'document' AS counted, '' AS kind, count(*) AS number, 0 AS mentions
