-- The documents that a session is about. A document may be in many sessions; ingestion alone knows whether there is one.
CREATE TABLE session_document (
    workspace_id uuid NOT NULL,
    session_id uuid NOT NULL,
    document_id uuid NOT NULL,
    attached_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, session_id, document_id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX session_document_listing ON session_document (workspace_id, session_id, attached_at, document_id);
CREATE INDEX session_document_document ON session_document (workspace_id, document_id);
SELECT protect('session_document');
