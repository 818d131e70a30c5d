-- Documents, the stages they go through, and the proof that a deleted one is gone.

CREATE TABLE document (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    bytes bigint NOT NULL,
    content_hash text NOT NULL,
    status text NOT NULL DEFAULT 'processing' CHECK (status IN ('processing', 'searchable', 'failed', 'deleting')),
    version integer NOT NULL DEFAULT 1,
    title text,
    pages integer,
    chunk_count integer,
    engine text,
    embedding_model text,
    embedding_dims integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    indexed_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
-- The same bytes in the same workspace are the same document; one that is being deleted no longer counts.
CREATE UNIQUE INDEX document_content ON document (workspace_id, content_hash) WHERE status <> 'deleting';
CREATE INDEX document_listed ON document (workspace_id, created_at DESC, id DESC);
SELECT protect('document');

-- `lease` is the token of the worker that runs the stage: every write of a worker is guarded by it.
-- `losses` counts workers that died on it, `postponements` the times that a store or provider was away.
CREATE TABLE document_stage (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    name text NOT NULL CHECK (name IN ('store', 'convert', 'chunk', 'embed', 'index', 'graph')),
    status text NOT NULL DEFAULT 'waiting'
        CHECK (status IN ('waiting', 'queued', 'running', 'succeeded', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    losses integer NOT NULL DEFAULT 0,
    postponements integer NOT NULL DEFAULT 0,
    queued_at timestamptz,
    not_before timestamptz,
    dispatched_at timestamptz,
    lease uuid,
    worker text,
    started_at timestamptz,
    heartbeat_at timestamptz,
    finished_at timestamptz,
    page integer,
    pages integer,
    error_class text,
    error_message text,
    traceparent text,
    PRIMARY KEY (workspace_id, document_id, name),
    FOREIGN KEY (workspace_id, document_id) REFERENCES document (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX document_stage_open ON document_stage (workspace_id, queued_at) WHERE status IN ('queued', 'running');
SELECT protect_queue('document_stage');

-- A deletion outlives its document: ids, times and counts, nothing of the content.
CREATE TABLE deletion (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    announced_at timestamptz NOT NULL DEFAULT now(),
    erased_at timestamptz,
    completed_at timestamptz,
    PRIMARY KEY (workspace_id, document_id)
);
CREATE INDEX deletion_open ON deletion (workspace_id, requested_at) WHERE completed_at IS NULL;
SELECT protect_queue('deletion');

CREATE TABLE deletion_receipt (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    service text NOT NULL,
    removed jsonb NOT NULL,
    remaining jsonb NOT NULL,
    confirmed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id, service),
    FOREIGN KEY (workspace_id, document_id) REFERENCES deletion (workspace_id, document_id) ON DELETE CASCADE
);
SELECT protect('deletion_receipt');

-- <schema>_document carries a document's id whenever a caller may want to look again;
-- <schema>_work wakes what dispatches stages and erases documents.
CREATE FUNCTION notify_stage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_document', NEW.document_id::text);
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_work', '');
    RETURN NULL;
END $$;
CREATE TRIGGER stage_inserted AFTER INSERT ON document_stage
    FOR EACH ROW WHEN (NEW.status = 'queued') EXECUTE FUNCTION notify_stage();
CREATE TRIGGER stage_changed AFTER UPDATE ON document_stage
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION notify_stage();
CREATE TRIGGER deletion_changed AFTER INSERT OR UPDATE ON deletion FOR EACH ROW EXECUTE FUNCTION notify_stage();

CREATE FUNCTION notify_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_document', NEW.id::text);
    RETURN NULL;
END $$;
CREATE TRIGGER document_changed AFTER UPDATE ON document
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION notify_document();
