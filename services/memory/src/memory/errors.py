"""What may go wrong in the memory service."""

from service_kit.problems import Conflict, NotFound, Unavailable


class MemoryNotFound(NotFound):
    type, title = "memory-not-found", "There is no such memory of yours in this workspace"


class IdempotencyKeyReused(Conflict):
    type, title = "idempotency-key-reused", "This Idempotency-Key was used for another note"


class EmbeddingUnavailable(Unavailable):
    type, title = "embedding-unavailable", "The embedding model does not answer; try again"
