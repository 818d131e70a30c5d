// name: entities_by_id
UNWIND $ids AS id
MATCH (e:Entity {workspace_id: $workspace_id, id: id})
WITH e ORDER BY e.id
RETURN collect({entity}) AS rows

// name: list_entities
MATCH (e:Entity {workspace_id: $workspace_id})
WHERE ($prefix IS NULL OR e.name_key STARTS WITH $prefix)
  AND ($entity_type IS NULL OR e.entity_type = $entity_type)
  AND e.mentions >= $min_mentions
  AND ($after_mentions IS NULL
       OR e.mentions < $after_mentions
       OR (e.mentions = $after_mentions AND e.id > $after_id))
WITH e ORDER BY e.mentions DESC, e.id LIMIT $limit
RETURN collect({entity}) AS rows

// name: relations_of
// The strongest in each direction come from an index in this order; without its first two columns it would be sorted.
CALL () {
  MATCH ()-[r:RELATED]->()
  WHERE r.workspace_id = $workspace_id AND r.source_id = $id AND r.rank IS NOT NULL AND r.target_id IS NOT NULL AND r.relation_type IS NOT NULL
  RETURN r ORDER BY r.workspace_id, r.source_id, r.rank, r.target_id, r.relation_type LIMIT $limit
  UNION ALL
  MATCH ()-[r:RELATED]->()
  WHERE r.workspace_id = $workspace_id AND r.target_id = $id AND r.rank IS NOT NULL AND r.source_id IS NOT NULL AND r.relation_type IS NOT NULL
  RETURN r ORDER BY r.workspace_id, r.target_id, r.rank, r.source_id, r.relation_type LIMIT $limit
}
WITH r ORDER BY r.weight DESC, r.source_id, r.target_id, r.relation_type LIMIT $limit
RETURN collect({relation}) AS rows

// name: neighbours
// As `relations_of`: a hub's neighbours cost as many reads as are returned.
UNWIND $ids AS origin
CALL (origin) {
  CALL (origin) {
    MATCH ()-[r:RELATED]->(o)
    WHERE r.workspace_id = $workspace_id AND r.source_id = origin AND r.rank IS NOT NULL AND r.target_id IS NOT NULL AND r.relation_type IS NOT NULL
      AND ($types IS NULL OR r.relation_type IN $types)
    WITH o, r ORDER BY r.workspace_id, r.source_id, r.rank, r.target_id, r.relation_type LIMIT $fan_out
    RETURN o, r.target_id AS id, -r.rank AS weight
    UNION ALL
    MATCH (o)-[r:RELATED]->()
    WHERE r.workspace_id = $workspace_id AND r.target_id = origin AND r.rank IS NOT NULL AND r.source_id IS NOT NULL AND r.relation_type IS NOT NULL
      AND ($types IS NULL OR r.relation_type IN $types)
    WITH o, r ORDER BY r.workspace_id, r.target_id, r.rank, r.source_id, r.relation_type LIMIT $fan_out
    RETURN o, r.source_id AS id, -r.rank AS weight
  }
  WITH o, id, weight WHERE weight >= $min_weight
  WITH o, id, max(weight) AS weight ORDER BY weight DESC, id LIMIT $fan_out
  RETURN o, id, weight
}
WITH origin, o, id, weight WHERE o.mentions >= $min_mentions
WITH origin, o, id, weight ORDER BY origin, weight DESC, id
RETURN collect([origin, id, o.name, o.mentions, weight]) AS rows

// name: links
UNWIND $ids AS origin
MATCH (:Entity {workspace_id: $workspace_id, id: origin})-[r:RELATED {workspace_id: $workspace_id}]-(o:Entity {workspace_id: $workspace_id})
WHERE $types IS NULL OR r.relation_type IN $types
RETURN collect(DISTINCT [origin, o.id]) AS rows

// name: steps_out
UNWIND $ids AS via
MATCH (:Entity {workspace_id: $workspace_id, id: via})-[r:RELATED {workspace_id: $workspace_id}]->(o:Entity {workspace_id: $workspace_id})
WHERE r.relation_type IN $types AND NOT o.id IN $seen
WITH o, min(via) AS via ORDER BY o.id LIMIT $limit
RETURN collect([o.id, o.name, via]) AS rows

// name: steps_in
UNWIND $ids AS via
MATCH (:Entity {workspace_id: $workspace_id, id: via})<-[r:RELATED {workspace_id: $workspace_id}]-(o:Entity {workspace_id: $workspace_id})
WHERE r.relation_type IN $types AND NOT o.id IN $seen
WITH o, min(via) AS via ORDER BY o.id LIMIT $limit
RETURN collect([o.id, o.name, via]) AS rows

// name: successors
UNWIND $among AS id
MATCH (:Entity {workspace_id: $workspace_id, id: $id})-[r:RELATED {workspace_id: $workspace_id}]->(:Entity {workspace_id: $workspace_id, id: id})
WHERE r.relation_type IN $types
WITH DISTINCT id ORDER BY id
RETURN collect([id]) AS rows

// name: relations_among
MATCH (s:Entity {workspace_id: $workspace_id}) WHERE s.id IN $ids
MATCH (s)-[r:RELATED {workspace_id: $workspace_id}]->(t:Entity {workspace_id: $workspace_id})
WHERE t.id IN $ids AND ($types IS NULL OR r.relation_type IN $types)
WITH r ORDER BY r.weight DESC, r.source_id, r.target_id, r.relation_type LIMIT $limit
RETURN collect({relation}) AS rows

// name: chunks_of
UNWIND $ids AS entity_id
CALL (entity_id) {
  MATCH ()-[m:MENTIONED_IN]->(c)
  WHERE m.workspace_id = $workspace_id AND m.entity_id = entity_id AND m.rank IS NOT NULL AND m.chunk_id IS NOT NULL
    AND NOT m.chunk_id STARTS WITH 'import:'
  RETURN c, m.chunk_id AS chunk_id, -m.rank AS mentions ORDER BY m.workspace_id, m.entity_id, m.rank, m.chunk_id LIMIT $limit
}
WITH entity_id, chunk_id, c, mentions ORDER BY entity_id, mentions DESC, chunk_id
RETURN collect([entity_id, chunk_id, c.document_id, mentions]) AS rows

// name: statistics
RETURN [[
  COUNT { MATCH (:Entity {workspace_id: $workspace_id}) },
  COUNT { MATCH ()-[r:RELATED]->() WHERE r.workspace_id = $workspace_id AND r.source_id IS NOT NULL AND r.rank IS NOT NULL AND r.target_id IS NOT NULL AND r.relation_type IS NOT NULL },
  COUNT { MATCH (:Document {workspace_id: $workspace_id}) }
]] AS rows

// name: counts
CALL () {
  MATCH (e:Entity {workspace_id: $workspace_id})
  RETURN 'entity' AS counted, e.entity_type AS kind, count(*) AS number, sum(e.mentions) AS mentions
  UNION ALL
  MATCH (:Entity {workspace_id: $workspace_id})-[r:RELATED {workspace_id: $workspace_id}]->()
  RETURN 'relation' AS counted, r.relation_type AS kind, count(*) AS number, 0 AS mentions
  UNION ALL
  MATCH (d:Document {workspace_id: $workspace_id})
  RETURN 'document' AS counted, '' AS kind, count(*) AS number, 0 AS mentions
}
RETURN collect([counted, kind, number, mentions]) AS rows

// name: top_by_mentions
MATCH (e:Entity {workspace_id: $workspace_id})
WHERE ($entity_type IS NULL OR e.entity_type = $entity_type) AND e.mentions >= $min_mentions
WITH e, e.mentions AS score ORDER BY score DESC, e.id LIMIT $limit
RETURN collect([toFloat(score), {entity}]) AS rows

// name: top_by_documents
MATCH (e:Entity {workspace_id: $workspace_id})
WHERE ($entity_type IS NULL OR e.entity_type = $entity_type) AND e.mentions >= $min_mentions
WITH e, e.documents AS score ORDER BY score DESC, e.id LIMIT $limit
RETURN collect([toFloat(score), {entity}]) AS rows

// name: top_by_degree
MATCH (e:Entity {workspace_id: $workspace_id})
WHERE ($entity_type IS NULL OR e.entity_type = $entity_type) AND e.mentions >= $min_mentions
WITH e, e.outgoing + e.incoming AS score ORDER BY score DESC, e.id LIMIT $limit
RETURN collect([toFloat(score), {entity}]) AS rows

// name: degrees
UNWIND $ids AS id
MATCH (e:Entity {workspace_id: $workspace_id, id: id})
RETURN collect([e.id, e.outgoing, e.incoming]) AS rows
