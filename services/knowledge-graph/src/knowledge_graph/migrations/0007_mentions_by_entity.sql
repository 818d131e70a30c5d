-- Where an entity is mentioned, and whether the chunk is about it, from the index alone: bridges read hundreds of these.
DROP INDEX mention_by_entity;
CREATE INDEX mention_by_entity ON mention (workspace_id, entity_id) INCLUDE (chunk_id, document_id, about);
