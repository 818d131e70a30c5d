"""What may go wrong in the knowledge graph."""

from service_kit.problems import NotFound, Problem, Unavailable


class EntityNotFound(NotFound):
    type, title = "entity-not-found", "There is no such entity in this workspace"


class ImportNotFound(NotFound):
    type, title = "import-not-found", "There is no such set of triples in this workspace"


class ImportTooLarge(Problem):
    status, type, title = 413, "import-too-large", "The triples are too many for one import"


class UnknownTripleFormat(Problem):
    status, type, title = 415, "unknown-triple-format", "The format of the triples is not known"


class ExportsBusy(Unavailable):
    type, title = "exports-busy", "Other exports are running; try again"


class StoreUnavailable(Exception):
    """A graph store does not answer."""
