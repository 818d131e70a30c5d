// name: begin_rebuild
MERGE (p:Projection {workspace_id: $workspace_id})
SET p.turn = $turn, p.rebuild = $attempt

// name: claim_workspace
// Returns no row for a slow writer whose turn is over: it must not overwrite a newer state. Writers take turns.
MERGE (p:Projection {workspace_id: $workspace_id})
ON CREATE SET p.turn = $turn
WITH p WHERE p.turn <= $turn
SET p.turn = $turn
RETURN p.turn AS turn

// name: continue_rebuild
// Returns no row if another writer has taken over.
MATCH (p:Projection {workspace_id: $workspace_id})
WHERE p.rebuild = $attempt
SET p.rebuild = $attempt
RETURN p.turn AS turn

// name: count_mentions
MATCH (:Entity {workspace_id: $workspace_id})-[m:MENTIONED_IN {workspace_id: $workspace_id}]->(:Chunk {workspace_id: $workspace_id, document_id: $document_id})
RETURN [count(m)] AS rows

// name: count_nodes
MATCH (n:Projection|Document|Entity|Chunk {workspace_id: $workspace_id})
RETURN [count(*)] AS rows

// name: remove_bare_chunks
UNWIND $documents AS document_id
MATCH (c:Chunk {workspace_id: $workspace_id, document_id: document_id})
WHERE NOT (c)<-[:MENTIONED_IN]-()
DELETE c

// name: remove_chunks
UNWIND $documents AS document_id
MATCH (c:Chunk {workspace_id: $workspace_id, document_id: document_id})
DETACH DELETE c

// name: remove_documents
UNWIND $documents AS document_id
MATCH (d:Document {workspace_id: $workspace_id, id: document_id})
DELETE d

// name: remove_entities
UNWIND $ids AS id
MATCH (e:Entity {workspace_id: $workspace_id, id: id})
DETACH DELETE e

// name: remove_mentions
UNWIND $mentions AS one
MATCH (c:Chunk {workspace_id: $workspace_id, document_id: one[0]})<-[m:MENTIONED_IN {workspace_id: $workspace_id}]-(e:Entity {workspace_id: $workspace_id, id: one[1]})
DELETE m

// name: remove_relations
UNWIND $pairs AS pair
MATCH (:Entity {workspace_id: $workspace_id, id: pair[0]})-[r:RELATED {workspace_id: $workspace_id}]->(:Entity {workspace_id: $workspace_id, id: pair[1]})
DELETE r

// name: remove_workspace
MATCH (n:Projection|Document|Entity|Chunk {workspace_id: $workspace_id})
WITH n LIMIT $batch
DETACH DELETE n
RETURN count(*) AS removed

// name: workspaces
MATCH (n:Projection|Document|Entity|Chunk)
RETURN DISTINCT n.workspace_id AS workspace_id

// name: write_chunks
UNWIND $rows AS row
MATCH (e:Entity {workspace_id: $workspace_id, id: row.entity_id})
MERGE (c:Chunk {workspace_id: $workspace_id, id: row.chunk_id})
ON CREATE SET c.document_id = row.document_id
CREATE (e)-[:MENTIONED_IN {workspace_id: $workspace_id, entity_id: row.entity_id, chunk_id: row.chunk_id, mentions: row.mentions, rank: -row.mentions}]->(c)

// name: write_documents
UNWIND $documents AS document_id
MERGE (:Document {workspace_id: $workspace_id, id: document_id})

// name: write_entities
UNWIND $rows AS row
MERGE (e:Entity {workspace_id: $workspace_id, id: row.id})
SET e += row

// name: write_relations
UNWIND $rows AS row
MATCH (s:Entity {workspace_id: $workspace_id, id: row.source_id})
MATCH (t:Entity {workspace_id: $workspace_id, id: row.target_id})
CREATE (s)-[:RELATED {workspace_id: $workspace_id, source_id: row.source_id, target_id: row.target_id, relation_type: row.relation_type, weight: row.weight, rank: -row.weight, evidence: row.evidence}]->(t)

// name: schema
// `rank` is the negated weight or number, because an index is read in one direction: strongest first, then by id.
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE (e.workspace_id, e.id) IS UNIQUE;
CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (c:Chunk) REQUIRE (c.workspace_id, c.id) IS UNIQUE;
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (d:Document) REQUIRE (d.workspace_id, d.id) IS UNIQUE;
CREATE CONSTRAINT projection_of IF NOT EXISTS FOR (p:Projection) REQUIRE (p.workspace_id) IS UNIQUE;
CREATE INDEX entity_by_mentions IF NOT EXISTS FOR (e:Entity) ON (e.workspace_id, e.mentions);
CREATE INDEX entity_by_name IF NOT EXISTS FOR (e:Entity) ON (e.workspace_id, e.name_key);
CREATE INDEX chunk_by_document IF NOT EXISTS FOR (c:Chunk) ON (c.workspace_id, c.document_id);
CREATE INDEX related_out IF NOT EXISTS FOR ()-[r:RELATED]-() ON (r.workspace_id, r.source_id, r.rank, r.target_id, r.relation_type);
CREATE INDEX related_in IF NOT EXISTS FOR ()-[r:RELATED]-() ON (r.workspace_id, r.target_id, r.rank, r.source_id, r.relation_type);
CREATE INDEX mentioned_in IF NOT EXISTS FOR ()-[m:MENTIONED_IN]-() ON (m.workspace_id, m.entity_id, m.rank, m.chunk_id)
