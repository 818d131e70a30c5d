-- Whether a document comes from a source is one look.
CREATE INDEX origin_of_source ON origin (workspace_id, source_id, document_id);
