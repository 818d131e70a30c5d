-- How a run's answer is to be written, where its caller says so: RunOptions. Of a door's run also what its answer repeats.
ALTER TABLE run ADD COLUMN options jsonb NOT NULL DEFAULT '{}';
