-- Where documents come from, their versions, the synchronisations of sources, and the workers.

-- `version` is the newest; its facts are in this row. `searchable_version` is the one that search serves.
-- The source columns repeat the document's first origin.
ALTER TABLE document RENAME COLUMN bytes TO file_size;
ALTER TABLE document
    DROP CONSTRAINT document_status_check,
    ADD CONSTRAINT document_status_check
        CHECK (status IN ('processing', 'searchable', 'failed', 'cancelled', 'deleting')),
    ADD COLUMN searchable_version integer,
    ADD COLUMN embedding_status text NOT NULL DEFAULT 'pending'
        CHECK (embedding_status IN ('pending', 'complete', 'failed')),
    ADD COLUMN source_type text NOT NULL DEFAULT 'upload',
    ADD COLUMN source_id uuid,
    ADD COLUMN source_name text,
    ADD COLUMN source_path text,
    ADD COLUMN source_uri text,
    ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
    ADD COLUMN language text,
    ADD COLUMN authors text[] NOT NULL DEFAULT '{}',
    ADD COLUMN headings text[] NOT NULL DEFAULT '{}',
    ADD COLUMN written_at timestamptz,
    ADD COLUMN modified_at timestamptz,
    ADD COLUMN stale_at timestamptz;
CREATE INDEX document_unsettled ON document (workspace_id, status) WHERE status <> 'searchable';

-- A document's history. `erased_at`: the objects of a superseded version are gone.
CREATE TABLE document_version (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    title text,
    media_type text NOT NULL,
    file_size bigint NOT NULL,
    content_hash text NOT NULL,
    pages integer,
    chunk_count integer,
    engine text,
    embedding_model text,
    embedding_dims integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    indexed_at timestamptz,
    superseded_at timestamptz,
    erased_at timestamptz,
    PRIMARY KEY (workspace_id, document_id, version),
    FOREIGN KEY (workspace_id, document_id) REFERENCES document (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX document_version_content ON document_version (workspace_id, content_hash);
CREATE INDEX document_version_superseded ON document_version (workspace_id, superseded_at)
    WHERE superseded_at IS NOT NULL AND erased_at IS NULL;
SELECT protect_queue('document_version');
INSERT INTO document_version (workspace_id, document_id, version, name, title, media_type, file_size, content_hash, pages,
                              chunk_count, engine, embedding_model, embedding_dims, created_at, indexed_at)
SELECT workspace_id, id, version, name, title, media_type, file_size, content_hash, pages,
       chunk_count, engine, embedding_model, embedding_dims, created_at, indexed_at
FROM document;
UPDATE document SET searchable_version = version, embedding_status = 'complete' WHERE status = 'searchable';

CREATE TABLE source (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('folder', 's3', 'web', 'git')),
    config jsonb NOT NULL,
    every_seconds integer,
    on_removed text NOT NULL CHECK (on_removed IN ('delete', 'mark_stale')),
    stale_after_seconds integer,
    paused boolean NOT NULL DEFAULT false,
    version integer NOT NULL DEFAULT 1,
    next_sync_at timestamptz,
    last_success_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX source_due ON source (next_sync_at) WHERE next_sync_at IS NOT NULL AND NOT paused AND deleted_at IS NULL;
SELECT protect_queue('source');

-- A place that a document comes from. `fingerprint` is what its source tells of unchanged content without reading it.
-- An excluded origin was deleted here by a user: its source still has the file, and it is not taken again.
CREATE TABLE origin (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('upload', 'artifact', 'folder', 's3', 'web', 'git')),
    source_id uuid,
    path text COLLATE "C" NOT NULL,
    uri text,
    name text NOT NULL,
    document_id uuid,
    fingerprint text,
    content_hash text,
    excluded boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    missing_since timestamptz,
    PRIMARY KEY (workspace_id, id),
    UNIQUE NULLS NOT DISTINCT (workspace_id, source_id, kind, path),
    FOREIGN KEY (workspace_id, source_id) REFERENCES source (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, document_id) REFERENCES document (workspace_id, id) ON DELETE SET NULL (document_id)
);
CREATE INDEX origin_document ON origin (workspace_id, document_id);
SELECT protect('origin');
INSERT INTO origin (workspace_id, id, kind, path, name, document_id, content_hash, created_at)
SELECT workspace_id, gen_random_uuid(), 'upload', 'sha256:' || content_hash, name, id, content_hash, created_at
FROM document WHERE status <> 'deleting';
UPDATE document SET source_name = name, source_path = 'sha256:' || content_hash;

CREATE TABLE source_sync (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    source_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    trigger text NOT NULL CHECK (trigger IN ('created', 'request', 'schedule', 'watch')),
    dry_run boolean NOT NULL DEFAULT false,
    seen integer NOT NULL DEFAULT 0,
    added integer NOT NULL DEFAULT 0,
    changed integer NOT NULL DEFAULT 0,
    removed integer NOT NULL DEFAULT 0,
    unchanged integer NOT NULL DEFAULT 0,
    refused integer NOT NULL DEFAULT 0,
    excluded integer NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    losses integer NOT NULL DEFAULT 0,
    lease uuid,
    worker text,
    created_at timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz,
    dispatched_at timestamptz,
    started_at timestamptz,
    heartbeat_at timestamptz,
    finished_at timestamptz,
    error_class text,
    error_message text,
    traceparent text,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, source_id) REFERENCES source (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX source_sync_open ON source_sync (workspace_id, created_at) WHERE status IN ('queued', 'running');
CREATE INDEX source_sync_listed ON source_sync (workspace_id, source_id, created_at DESC, id DESC);
-- At most one waits and one runs; a dry run is beside them.
CREATE UNIQUE INDEX source_sync_one_queued ON source_sync (workspace_id, source_id) WHERE status = 'queued' AND NOT dry_run;
CREATE UNIQUE INDEX source_sync_one_running ON source_sync (workspace_id, source_id) WHERE status = 'running' AND NOT dry_run;
SELECT protect_queue('source_sync');

CREATE TABLE sync_change (
    workspace_id uuid NOT NULL,
    sync_id uuid NOT NULL,
    position integer NOT NULL,
    action text NOT NULL CHECK (action IN ('add', 'change', 'remove', 'refuse')),
    path text NOT NULL,
    document_id uuid,
    file_size bigint,
    message text,
    PRIMARY KEY (workspace_id, sync_id, position),
    FOREIGN KEY (workspace_id, sync_id) REFERENCES source_sync (workspace_id, id) ON DELETE CASCADE
);
SELECT protect('sync_change');

-- A deletion of a whole source is the sum of those of its documents.
ALTER TABLE deletion ADD COLUMN source_id uuid;
CREATE INDEX deletion_of_source ON deletion (workspace_id, source_id) WHERE source_id IS NOT NULL;
CREATE TABLE source_deletion (
    workspace_id uuid NOT NULL,
    source_id uuid NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, source_id)
);
SELECT protect('source_deletion');

-- The stages are those of the document's newest version.
ALTER TABLE document_stage
    DROP CONSTRAINT document_stage_status_check,
    ADD CONSTRAINT document_stage_status_check
        CHECK (status IN ('waiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
    ADD COLUMN lane text NOT NULL DEFAULT 'interactive' CHECK (lane IN ('interactive', 'bulk'));
CREATE INDEX document_stage_queue ON document_stage (lane, workspace_id, queued_at)
    WHERE status = 'queued' AND name IN ('convert', 'embed') AND dispatched_at IS NULL;
CREATE INDEX document_stage_in_flight ON document_stage (lane, workspace_id)
    WHERE status IN ('queued', 'running') AND dispatched_at IS NOT NULL AND name IN ('convert', 'chunk', 'embed');

-- What to embed new documents with, as retrieval told; without a row the configured default.
CREATE TABLE workspace_embedding (
    workspace_id uuid PRIMARY KEY,
    model text NOT NULL,
    dims integer NOT NULL,
    told_at timestamptz NOT NULL
);
SELECT protect('workspace_embedding');

-- Workers that live, or lived a moment ago: of no workspace, seen by the system scope alone.
CREATE TABLE worker (
    id text PRIMARY KEY,
    slots integer NOT NULL,
    documents bigint NOT NULL DEFAULT 0,
    resident_bytes bigint NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE worker ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON worker USING (is_system()) WITH CHECK (is_system());

CREATE FUNCTION notify_sync() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_document', NEW.id::text);
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_work', '');
    RETURN NULL;
END $$;
CREATE TRIGGER sync_inserted AFTER INSERT ON source_sync FOR EACH ROW EXECUTE FUNCTION notify_sync();
CREATE TRIGGER sync_changed AFTER UPDATE ON source_sync
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION notify_sync();
