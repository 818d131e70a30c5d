-- Up to 0.1.0 the secret of a key that was created with an Idempotency-Key was computed from its id and a secret that all
-- services shared. Such ids are of version 5, others of version 4. Secrets are random now, so the mark is never set again.
ALTER TABLE api_key ADD COLUMN is_computable boolean NOT NULL DEFAULT false;
UPDATE api_key SET is_computable = true WHERE id::text ~ '^.{14}5.{4}[89ab]';
CREATE INDEX api_key_computable ON api_key (created_at) WHERE is_computable AND revoked_at IS NULL;
