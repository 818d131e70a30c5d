-- The seconds that a run may take from a claim on.
ALTER TABLE run ADD COLUMN deadline_seconds integer NOT NULL DEFAULT 600;
