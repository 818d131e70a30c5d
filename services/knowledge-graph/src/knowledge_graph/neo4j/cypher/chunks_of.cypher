UNWIND $ids AS entity_id
MATCH (e:Entity {workspace_id: $workspace_id, id: entity_id})
CALL (e) {
  MATCH (e)-[m:MENTIONED_IN {workspace_id: $workspace_id}]->(c:Chunk {workspace_id: $workspace_id})
  WHERE NOT c.id STARTS WITH 'import:'
  RETURN c, m.mentions AS mentions ORDER BY mentions DESC, c.id LIMIT $limit
}
RETURN entity_id, c.id AS chunk_id, c.document_id AS document_id, mentions
ORDER BY entity_id, mentions DESC, chunk_id
