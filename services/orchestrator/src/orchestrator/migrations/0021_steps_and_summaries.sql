-- What a run did, told to people; how long each of its nodes took, in milliseconds; what only those see who look for a fault.
ALTER TABLE run
    ADD COLUMN steps_executed text[] NOT NULL DEFAULT '{}',
    ADD COLUMN timings jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN debug jsonb NOT NULL DEFAULT '{}';
-- What stands for a message and all before it on its path, in what a model reads. It goes with the message.
ALTER TABLE message ADD COLUMN summary text;
