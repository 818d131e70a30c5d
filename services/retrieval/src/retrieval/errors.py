"""What callers may be told."""

from __future__ import annotations

from service_kit.problems import Conflict, Forbidden, InvalidRequest, NotFound, Problem


class SearchUnavailable(Problem):
    """No leg of the search could answer; `legs` says why, by leg."""

    status, type, title = 503, "search-unavailable", "The search is not available; try again"


class InvalidMetadataPath(InvalidRequest):
    """`place` says which expression; the detail what is wrong with it."""

    type, title = "invalid-metadata-path", "A metadata filter is not a valid SQL/JSON path expression"


class FilterTooSlow(InvalidRequest):
    type, title = "filter-too-slow", "The filter takes too long over the documents of this workspace"


class ScopeNeedsSession(InvalidRequest):
    type, title = "scope-needs-session", "The scope of a session needs the session_id"


class UnknownSession(NotFound):
    type, title = "session-not-found", "There is no such session"


class TooManyWorkspaces(InvalidRequest):
    type, title = "too-many-workspaces", "There are too many workspaces to search all of them at once"


class GlobalNeedsKey(Forbidden):
    type, title = "global-needs-key", "A search of every workspace needs a key that was made for all workspaces"


class SessionsUnavailable(Problem):
    status, type, title = 503, "sessions-unavailable", "The documents of the session cannot be told; try again"


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


class UnknownTokenizer(InvalidRequest):
    """`available` lists what there is."""

    type, title = "unknown-tokenizer", "There is no such tokenizer"


class TokenizerUnusable(Problem):
    status, type, title = 503, "tokenizer-unusable", "The tokenizer's file cannot be read"


class ConvertedInvalid(ValueError):
    """What the object store holds of a document is not what its event says."""
