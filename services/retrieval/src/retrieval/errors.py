"""What callers may be told."""

from __future__ import annotations

from service_kit.problems import Conflict, InvalidRequest, NotFound, Problem


class SearchUnavailable(Problem):
    """No leg of the search could answer; `legs` says why, by leg."""

    status, type, title = 503, "search-unavailable", "The search is not available; try again"


class UnknownEmbeddingModel(InvalidRequest):
    """`configured` lists what there is."""

    type, title = "unknown-embedding-model", "No such embedding model is configured"


class EmbeddingModelNotConfigured(Conflict):
    type, title = "embedding-model-not-configured", "The model of this embedding space is configured no more"


class EmbeddingSpaceInUse(Conflict):
    type, title = "embedding-space-in-use", "The workspace is searched in this embedding space"


class EmbeddingSpaceDropping(Conflict):
    type, title = "embedding-space-dropping", "The vectors of this embedding space are being removed"


class WorkspaceBusy(Problem):
    status, type, title = 503, "workspace-busy", "Documents of the workspace are being indexed; try again"


class SavedSearchNotFound(NotFound):
    type, title = "saved-search-not-found", "There is no such saved search in this workspace"


class SavedSearchNameTaken(Conflict):
    type, title = "saved-search-name-taken", "Another saved search of the workspace has this name"


class SavedSearchTooWide(InvalidRequest):
    type, title = "saved-search-too-wide", "A search of every workspace cannot be saved in one of them"


class ConvertedInvalid(ValueError):
    """What the object store holds of a document is not what its event says."""
