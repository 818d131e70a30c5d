"""What callers may be told."""

from __future__ import annotations

from service_kit.problems import Problem


class SearchUnavailable(Problem):
    """No leg of the search could answer; `legs` says why, by leg."""

    status, type, title = 503, "search-unavailable", "The search is not available; try again"


class ConvertedInvalid(ValueError):
    """What the object store holds of a document is not what its event says."""
