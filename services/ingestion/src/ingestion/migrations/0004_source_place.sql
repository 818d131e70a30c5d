-- What the source was found on when it last succeeded, and since when it has not been seen for too long.
ALTER TABLE source
    ADD COLUMN place text,
    ADD COLUMN stale_since timestamptz;
