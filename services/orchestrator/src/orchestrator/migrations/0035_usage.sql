-- What each call of a model took, also of those that were cancelled or broke off. It holds no texts, so it outlives its
-- run: what was spent stays spent.
CREATE TABLE model_call (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    run_id uuid,
    attempt integer,
    user_id uuid NOT NULL,
    key_id uuid,
    role text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    day date NOT NULL,
    reserved_tokens bigint NOT NULL,
    budgets text[] NOT NULL DEFAULT '{}',
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cached_tokens bigint NOT NULL DEFAULT 0,
    thinking_tokens bigint NOT NULL DEFAULT 0,
    cost double precision,
    is_told boolean NOT NULL DEFAULT false,
    first_token_ms double precision,
    ended text CHECK (ended IN ('completed', 'cut', 'cancelled', 'failed', 'lost')),
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX model_call_of_run ON model_call (workspace_id, run_id);
CREATE INDEX model_call_by_day ON model_call (workspace_id, day, user_id);
CREATE INDEX model_call_open ON model_call (workspace_id) WHERE ended IS NULL;
SELECT protect('model_call');

-- What is used and reserved of a budget of a day; that of a run has the day 1970-01-01.
CREATE TABLE token_budget (
    workspace_id uuid NOT NULL,
    subject text NOT NULL CHECK (subject IN ('workspace', 'user', 'key', 'run')),
    subject_id uuid NOT NULL,
    day date NOT NULL,
    most bigint NOT NULL,
    used bigint NOT NULL DEFAULT 0,
    reserved bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, subject, subject_id, day)
);
SELECT protect('token_budget');

-- The API key that a run was asked with.
ALTER TABLE run ADD COLUMN key_id uuid;
