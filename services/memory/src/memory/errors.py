"""The problems that callers are told."""

from service_kit.problems import NotFound, Unavailable


class MemoryNotFound(NotFound):
    type, title = "memory-not-found", "You have no such memory in this workspace"


class EmbeddingUnavailable(Unavailable):
    type, title = "embedding-unavailable", "The embedding model does not answer; try again"
