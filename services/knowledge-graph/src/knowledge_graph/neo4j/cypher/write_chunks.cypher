UNWIND $rows AS row
MATCH (e:Entity {workspace_id: $workspace_id, id: row.entity_id})
MERGE (c:Chunk {workspace_id: $workspace_id, id: row.chunk_id})
ON CREATE SET c.document_id = row.document_id
CREATE (e)-[:MENTIONED_IN {workspace_id: $workspace_id, mentions: row.mentions}]->(c)
