-- The truth: every mention and every piece of evidence with its chunk and document. `entity` and `relation` are sums
-- over them, kept in the same transaction; Neo4j is a projection of all that.

CREATE TABLE graphed_document (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    chunks integer NOT NULL,
    entities integer NOT NULL,
    relations integer NOT NULL,
    method text NOT NULL,
    graphed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id)
);
-- The system scope lists the documents of all workspaces for a rebuild of the projection.
SELECT protect_queue('graphed_document');

-- A deleted document never comes back, whatever order its events arrive in.
CREATE TABLE deleted_document (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id)
);
SELECT protect('deleted_document');

CREATE TABLE entity (
    workspace_id uuid NOT NULL,
    id text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    name text NOT NULL,
    entity_type text NOT NULL,
    mentions integer NOT NULL,
    documents integer NOT NULL,
    aliases text[] NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX entity_by_mentions ON entity (workspace_id, mentions DESC, id);
CREATE INDEX entity_by_name ON entity (workspace_id, name_key);
SELECT protect('entity');

CREATE TABLE mention (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    number integer NOT NULL,
    entity_id text COLLATE "C" NOT NULL,
    name_key text NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    surface text NOT NULL,
    entity_type text NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    about boolean NOT NULL,
    PRIMARY KEY (workspace_id, document_id, number)
);
CREATE INDEX mention_by_entity ON mention (workspace_id, entity_id) INCLUDE (chunk_id, document_id);
SELECT protect('mention');

CREATE TABLE relation_evidence (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    number integer NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    target_id text COLLATE "C" NOT NULL,
    relation_type text COLLATE "C" NOT NULL,
    weight real NOT NULL,
    confidence real NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    PRIMARY KEY (workspace_id, document_id, number)
);
CREATE INDEX relation_evidence_by_relation ON relation_evidence (workspace_id, source_id, target_id, relation_type);
SELECT protect('relation_evidence');

CREATE TABLE relation (
    workspace_id uuid NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    target_id text COLLATE "C" NOT NULL,
    relation_type text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    evidence integer NOT NULL,
    PRIMARY KEY (workspace_id, source_id, target_id, relation_type)
);
CREATE INDEX relation_outgoing ON relation (workspace_id, source_id, weight DESC, target_id, relation_type);
CREATE INDEX relation_incoming ON relation (workspace_id, target_id, weight DESC, source_id, relation_type);
SELECT protect('relation');

-- Documents whose graph Neo4j does not show yet, each once. `receipt` is the confirmation that a deletion waits with.
CREATE TABLE projection_queue (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    receipt jsonb,
    queued_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id)
);
CREATE INDEX projection_queue_order ON projection_queue (sequence);
SELECT protect_queue('projection_queue');

CREATE FUNCTION notify_projection() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_projection', '');
    RETURN NULL;
END $$;
CREATE TRIGGER projection_queued AFTER INSERT OR UPDATE ON projection_queue
FOR EACH STATEMENT EXECUTE FUNCTION notify_projection();
