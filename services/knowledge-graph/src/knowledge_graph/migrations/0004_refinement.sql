-- Refinement by a chat model: whether a workspace wants it, the passages that it would read, what it found in each
-- different text, the runs that spend on it, and the documents whose graph is to take up what was found.

CREATE TABLE refinement_settings (
    workspace_id uuid PRIMARY KEY,
    enabled boolean NOT NULL,
    max_tokens bigint,
    max_calls bigint,
    version integer NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);
SELECT protect('refinement_settings');

-- Documents whose passages are in `refinement_chunk`; those that were graphed before it are read when they are needed.
CREATE TABLE refinement_document (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, document_id)
);
SELECT protect('refinement_document');

-- The passages of each graphed document that can be refined. `digest`: the first 16 bytes of the SHA-256 of the
-- passage's text, so that the same text has one result. `applied`: the graph of the document holds that result.
CREATE TABLE refinement_chunk (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    number integer NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    tokens integer NOT NULL,
    applied boolean NOT NULL,
    PRIMARY KEY (workspace_id, document_id, number)
);
CREATE INDEX refinement_chunk_by_digest ON refinement_chunk (workspace_id, digest);
SELECT protect('refinement_chunk');

-- `found` is what the model named, checked against the text. A result in the state `again` is still to be asked for.
CREATE TABLE refinement_result (
    workspace_id uuid NOT NULL,
    digest bytea NOT NULL,
    state text NOT NULL CHECK (state IN ('again', 'done', 'failed')),
    attempts integer NOT NULL,
    found jsonb,
    model text NOT NULL,
    error text,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, digest)
);
SELECT protect('refinement_result');

-- `outages` counts the times in a row that the provider was away; `available_at` is when it is asked again.
CREATE TABLE refinement_run (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    state text NOT NULL DEFAULT 'queued' CHECK (
        state IN (
            'queued', 'running', 'waiting', 'paused', 'budget_exhausted', 'failed', 'completed', 'cancelled'
        )
    ),
    follow boolean NOT NULL,
    document_ids uuid[],
    model text NOT NULL,
    max_tokens bigint,
    max_calls bigint,
    calls bigint NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    last_error text,
    outages integer NOT NULL DEFAULT 0,
    available_at timestamptz NOT NULL DEFAULT now(),
    lease_token uuid,
    lease_expires_at timestamptz,
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX refinement_run_active ON refinement_run (workspace_id)
WHERE state IN ('queued', 'running', 'waiting', 'paused');
CREATE INDEX refinement_run_newest ON refinement_run (workspace_id, created_at DESC, id DESC);
CREATE INDEX refinement_run_claimable ON refinement_run (available_at) WHERE state IN ('queued', 'running');
SELECT protect_queue('refinement_run');

-- Documents that are to be graphed anew, because results for them came or went. `available_at` is also the lease of
-- the process that is at it.
CREATE TABLE refinement_queue (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    attempts integer NOT NULL DEFAULT 0,
    available_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id)
);
CREATE INDEX refinement_queue_order ON refinement_queue (available_at);
SELECT protect_queue('refinement_queue');

CREATE FUNCTION notify_refinement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_refinement', '');
    RETURN NULL;
END $$;
CREATE TRIGGER refinement_asked AFTER INSERT OR UPDATE OF state ON refinement_run
FOR EACH STATEMENT EXECUTE FUNCTION notify_refinement();
CREATE TRIGGER refinement_queued AFTER INSERT ON refinement_queue
FOR EACH STATEMENT EXECUTE FUNCTION notify_refinement();
