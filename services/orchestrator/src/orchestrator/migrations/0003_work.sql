-- Runs are leased work as every other (service_kit/work.py).
ALTER TABLE run RENAME COLUMN status TO state;
DROP INDEX run_waiting;
CREATE INDEX run_waiting ON run (workspace_id, available_at) WHERE state = 'queued';
CREATE INDEX run_held ON run (workspace_id, lease_token) WHERE lease_token IS NOT NULL;
SELECT wake_workers('run', 'run_queued');
