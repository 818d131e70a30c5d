-- What owners limit each API key of their workspace to, besides the operator's limit; null: nothing.
ALTER TABLE workspace ADD COLUMN key_requests_per_minute integer CHECK (key_requests_per_minute > 0);
