UNWIND $ids AS origin
MATCH (e:Entity {workspace_id: $workspace_id, id: origin})
CALL (e) {
  CALL (e) {
    MATCH (e)-[r:RELATED {workspace_id: $workspace_id}]->(o:Entity {workspace_id: $workspace_id})
    WHERE $types IS NULL OR r.relation_type IN $types
    WITH o, r ORDER BY r.weight DESC, o.id, r.relation_type LIMIT $fan_out
    RETURN o, r.weight AS weight
    UNION ALL
    MATCH (e)<-[r:RELATED {workspace_id: $workspace_id}]-(o:Entity {workspace_id: $workspace_id})
    WHERE $types IS NULL OR r.relation_type IN $types
    WITH o, r ORDER BY r.weight DESC, o.id, r.relation_type LIMIT $fan_out
    RETURN o, r.weight AS weight
  }
  WITH o, weight WHERE weight >= $min_weight
  WITH o, max(weight) AS weight ORDER BY weight DESC, o.id LIMIT $fan_out
  RETURN o, weight
}
WITH origin, o, weight WHERE o.mentions >= $min_mentions
RETURN origin, o.id AS id, o.name AS name, o.mentions AS mentions, weight
ORDER BY origin, weight DESC, id
