-- Versions that a later one takes the place of, and content that stays away.

ALTER TABLE document_version ADD COLUMN replaced_at timestamptz;
-- Those whose successor does not serve yet: few, and looked at often.
CREATE INDEX document_version_replaced ON document_version (workspace_id, document_id)
    WHERE replaced_at IS NOT NULL AND superseded_at IS NULL;
CREATE INDEX document_version_indexed ON document_version (workspace_id, indexed_at) WHERE indexed_at IS NOT NULL;
CREATE INDEX origin_excluded ON origin (workspace_id, source_id, content_hash) WHERE excluded;

DROP TRIGGER document_changed ON document;
CREATE TRIGGER document_changed AFTER UPDATE ON document
    FOR EACH ROW WHEN ((OLD.status, OLD.version, OLD.searchable_version, OLD.embedding_status)
                       IS DISTINCT FROM (NEW.status, NEW.version, NEW.searchable_version, NEW.embedding_status))
    EXECUTE FUNCTION notify_document();
