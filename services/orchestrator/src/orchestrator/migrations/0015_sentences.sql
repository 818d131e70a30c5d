-- What the sources say to each sentence of an answer.
ALTER TABLE message ADD COLUMN sentences jsonb NOT NULL DEFAULT '[]';
