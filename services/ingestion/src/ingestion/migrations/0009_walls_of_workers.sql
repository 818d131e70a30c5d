-- Which walls a worker's machine puts around the processes that read files: a list of {name, active, detail}.
ALTER TABLE worker ADD COLUMN walls jsonb NOT NULL DEFAULT '[]';
