"""Queries on a synthetic corpus, and the documents that each filter keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
from benchmarks.exact_neighbours import Mask
from benchmarks.synthetic_corpus import MEDIA_TYPES, TAGS, Corpus, Matrix, Query, document_id

QUERIES = 300  # no more than the service caches vectors of
FILTERED = 3
Filter = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """The queries of a corpus's largest workspace, and filters by name with the documents that they keep."""

    corpus: Corpus
    queries: list[Query]
    filters: dict[str, Filter]
    scopes: dict[str, Mask]

    @classmethod
    def of(cls, corpus: Corpus) -> Scenario:
        own = corpus.workspaces == 0
        fifth, hundredth = (own & corpus.tagged[:, number] for number in range(len(TAGS)))
        html = own & (corpus.media_types == len(MEDIA_TYPES) - 1)
        one = int(np.flatnonzero(own & (corpus.sizes > 5))[7])
        half = np.flatnonzero(own)[::2][:10_000]
        ids = [str(document_id(int(number))) for number in half]
        chosen = np.isin(np.arange(len(corpus)), half)
        filters: dict[str, tuple[Filter, Mask]] = {
            "no filter": ({}, own),
            "1 document": ({"document_ids": [str(document_id(one))]}, np.arange(len(corpus)) == one),
            "a tag, 1 %": ({"tags": [TAGS[1][0]]}, hundredth),
            "a tag, 20 %": ({"tags": [TAGS[0][0]]}, fifth),
            "a media type, 20 %": ({"media_types": [MEDIA_TYPES[-1][0]]}, html),
            "10,000 document ids": (
                {"document_ids": ids + [str(uuid4()) for _ in range(10_000 - len(ids))]},
                chosen,
            ),
        }
        return cls(
            corpus,
            corpus.queries(QUERIES),
            {name: asked for name, (asked, _) in filters.items()},
            {name: mask for name, (_, mask) in filters.items()},
        )

    def requests(self, mode: str, name: str = "no filter", **more: object) -> list[dict[str, Any]]:
        """Returns requests for all queries, or for a third of them if there is a filter."""
        queries = self.queries if name == "no filter" else self.queries[::FILTERED]
        return [{"query": query.text, "mode": mode, **self.filters[name], **more} for query in queries]

    @property
    def texts(self) -> list[str]:
        return [query.text for query in self.queries]

    @property
    def vectors(self) -> Matrix:
        return np.stack([query.vector for query in self.queries])
