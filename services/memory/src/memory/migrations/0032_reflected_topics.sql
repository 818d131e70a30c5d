-- A session's world has topics that were derived from what was said.
SET LOCAL lock_timeout = '2s';
ALTER TABLE world_event
    DROP CONSTRAINT world_event_kind_check,
    ADD CONSTRAINT world_event_kind_check
        CHECK (kind IN ('created', 'operation', 'reverted', 'repaired', 'forgotten', 'conflict', 'reflected')) NOT VALID;
