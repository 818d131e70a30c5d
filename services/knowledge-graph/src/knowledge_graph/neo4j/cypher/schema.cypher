CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE (e.workspace_id, e.id) IS UNIQUE;
CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (c:Chunk) REQUIRE (c.workspace_id, c.id) IS UNIQUE;
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (d:Document) REQUIRE (d.workspace_id, d.id) IS UNIQUE;
CREATE CONSTRAINT projection_of IF NOT EXISTS FOR (p:Projection) REQUIRE (p.workspace_id) IS UNIQUE;
CREATE INDEX entity_by_mentions IF NOT EXISTS FOR (e:Entity) ON (e.workspace_id, e.mentions);
CREATE INDEX entity_by_name IF NOT EXISTS FOR (e:Entity) ON (e.workspace_id, e.name_key);
CREATE INDEX chunk_by_document IF NOT EXISTS FOR (c:Chunk) ON (c.workspace_id, c.document_id)
