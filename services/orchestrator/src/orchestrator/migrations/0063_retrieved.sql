-- What a run's search found: the answer shows it after a reload, too.
ALTER TABLE run ADD COLUMN retrieved jsonb;
