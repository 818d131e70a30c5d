-- An operation of a run that no longer fitted when the run ended stands in the history.
SET LOCAL lock_timeout = '2s';
ALTER TABLE world_event
    DROP CONSTRAINT world_event_kind_check,
    ADD CONSTRAINT world_event_kind_check
        CHECK (kind IN ('created', 'operation', 'reverted', 'repaired', 'forgotten', 'conflict')) NOT VALID;
