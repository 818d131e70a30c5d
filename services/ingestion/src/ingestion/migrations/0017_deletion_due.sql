-- The next documents to delete are found without a look at all that wait.
SET LOCAL lock_timeout = '2s';
CREATE INDEX deletion_due ON deletion (requested_at) WHERE erased_at IS NULL AND completed_at IS NULL;
