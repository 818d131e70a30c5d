-- What a conversation is about is kept in its session's world, not as a memory: no memory is of the kind topic.
ALTER TABLE memory
    DROP CONSTRAINT memory_kind_check,
    ADD CONSTRAINT memory_kind_check CHECK (kind IN ('episode', 'note', 'fact', 'preference', 'style'));
