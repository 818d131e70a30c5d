-- Refinement is one switch and one budget for each workspace in place of runs. What a run in progress has spent and may
-- spend goes on; elsewhere refinement stays off, so that an upgrade by itself spends nothing.
CREATE TABLE refinement (
    workspace_id uuid PRIMARY KEY,
    enabled boolean NOT NULL,
    max_tokens bigint,
    version integer NOT NULL,
    calls bigint NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    last_error text,
    outages integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'waiting', 'budget_exhausted', 'failed')),
    available_at timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0,
    lease_token uuid,
    lease_owner text,
    lease_expires_at timestamptz
);
SELECT protect_queue('refinement');
ALTER TABLE refinement ALTER COLUMN workspace_id SET STATISTICS 0;

INSERT INTO refinement (
    workspace_id, enabled, max_tokens, version, calls, input_tokens, output_tokens, last_error, state
)
SELECT
    settings.workspace_id,
    settings.enabled AND coalesce(run.max_tokens, settings.max_tokens) IS NOT NULL AND run.id IS NOT NULL,
    coalesce(run.max_tokens, settings.max_tokens),
    settings.version,
    coalesce(run.calls, 0),
    coalesce(run.input_tokens, 0),
    coalesce(run.output_tokens, 0),
    run.last_error,
    CASE WHEN run.id IS NULL THEN 'waiting' ELSE 'queued' END
FROM refinement_settings AS settings
LEFT JOIN refinement_run AS run
    ON run.workspace_id = settings.workspace_id AND run.state IN ('queued', 'running', 'waiting');

DROP TABLE refinement_run;
DROP TABLE refinement_settings;
DROP TRIGGER refinement_queued ON refinement_queue;
DROP FUNCTION notify_refinement();

ALTER TABLE refinement_queue
    ADD COLUMN state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done')),
    ADD COLUMN lease_token uuid,
    ADD COLUMN lease_owner text,
    ADD COLUMN lease_expires_at timestamptz;
DROP INDEX refinement_queue_order;
CREATE INDEX refinement_queue_waiting ON refinement_queue (workspace_id, available_at) WHERE state = 'queued';
CREATE INDEX refinement_queue_held ON refinement_queue (workspace_id, lease_token) WHERE lease_token IS NOT NULL;
CREATE INDEX refinement_waiting ON refinement (workspace_id, available_at) WHERE state = 'queued';
CREATE INDEX refinement_held ON refinement (workspace_id, lease_token) WHERE lease_token IS NOT NULL;
SELECT wake_workers('refinement', 'refinement');
SELECT wake_workers('refinement_queue', 'refinement_queue');
