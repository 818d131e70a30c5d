"""Errors of the knowledge graph."""

from service_kit.problems import InvalidRequest, NotFound, Problem, Unavailable


class EntityNotFound(NotFound):
    type, title = "entity-not-found", "There is no such entity in this workspace"


class CorrectionNotFound(NotFound):
    type, title = "correction-not-found", "There is no such correction in this workspace"


class NameNotKnown(InvalidRequest):
    type, title = "name-not-known", "The graph has no entity of this name"


class FactNotStated(InvalidRequest):
    type, title = "fact-not-stated", "Nothing states this fact"


class NamesAreOne(InvalidRequest):
    type, title = "names-are-one", "The two names already are one entity"


class NotMerged(InvalidRequest):
    type, title = "not-merged", "No document makes the two names one entity"


class ImportNotFound(NotFound):
    type, title = "import-not-found", "There is no such import of triples in this workspace"


class ImportTooLarge(Problem):
    status, type, title = 413, "import-too-large", "The import has too many triples"


class UnknownTripleFormat(Problem):
    status, type, title = 415, "unknown-triple-format", "The format of the triples is unknown"


class ExportsBusy(Unavailable):
    type, title = "exports-busy", "Too many exports are running; try again"


class StoreUnavailable(Exception):
    """A graph store does not respond."""
