-- Embedding spaces are work of service_kit.work: `status` is what users see, `state` whether there is something to do.
DROP TRIGGER embedding_space_added ON embedding_space;
DROP TRIGGER embedding_space_changed ON embedding_space;
DROP FUNCTION notify_embedding_space();
DROP INDEX embedding_space_work;

ALTER TABLE embedding_space RENAME COLUMN next_attempt_at TO available_at;
ALTER TABLE embedding_space RENAME COLUMN lease_until TO lease_expires_at;
ALTER TABLE embedding_space ADD COLUMN state text NOT NULL DEFAULT 'queued', ADD COLUMN lease_token uuid;
UPDATE embedding_space SET
    state = CASE WHEN status IN ('building', 'failed', 'dropping') OR incomplete THEN 'queued' ELSE 'idle' END,
    available_at = coalesce(available_at, now()), lease_owner = NULL, lease_expires_at = NULL;
ALTER TABLE embedding_space
    ALTER COLUMN available_at SET DEFAULT now(), ALTER COLUMN available_at SET NOT NULL,
    ALTER COLUMN lease_owner TYPE text,
    ADD CHECK (state IN ('queued', 'running', 'idle')),
    DROP COLUMN incomplete, DROP COLUMN worked_at;

CREATE INDEX embedding_space_waiting ON embedding_space (workspace_id, available_at) WHERE state = 'queued';
CREATE INDEX embedding_space_held ON embedding_space (workspace_id, lease_token) WHERE lease_token IS NOT NULL;
SELECT wake_workers('embedding_space', 'embedding_space');
