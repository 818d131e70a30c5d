"""What may go wrong in the knowledge graph."""

from service_kit.problems import NotFound


class EntityNotFound(NotFound):
    type, title = "entity-not-found", "There is no such entity in this workspace"


class StoreUnavailable(Exception):
    """A graph store does not answer."""
