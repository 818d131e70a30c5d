-- Synchronisations are leased work (service_kit.work). What workers hold during the upgrade counts as lost soon.
ALTER TABLE source_sync RENAME COLUMN status TO state;
ALTER TABLE source_sync RENAME COLUMN worker TO lease_owner;
ALTER TABLE source_sync RENAME COLUMN lease TO lease_token;
ALTER TABLE source_sync
    ADD COLUMN available_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN lease_expires_at timestamptz;
UPDATE source_sync SET available_at = coalesce(not_before, created_at);
UPDATE source_sync SET lease_expires_at = now() + interval '1 minute' WHERE lease_token IS NOT NULL;
ALTER TABLE source_sync DROP COLUMN not_before, DROP COLUMN dispatched_at;
DROP INDEX source_sync_open;
CREATE INDEX source_sync_waiting ON source_sync (workspace_id, available_at) WHERE state = 'queued';
CREATE INDEX source_sync_held ON source_sync (workspace_id, lease_token) WHERE lease_token IS NOT NULL;

-- The contract lists the kinds of sources and origins.
ALTER TABLE source DROP CONSTRAINT source_kind_check;
ALTER TABLE origin DROP CONSTRAINT origin_kind_check;
