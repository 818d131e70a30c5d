-- What happened in a run, without the pieces of its text: followers read it where the stream in Redis is gone.
CREATE TABLE run_event (
    workspace_id uuid NOT NULL,
    run_id uuid NOT NULL,
    attempt integer NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    data text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, run_id, attempt, number),
    FOREIGN KEY (workspace_id, run_id) REFERENCES run (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX run_event_age ON run_event (created_at);
SELECT protect_queue('run_event');
