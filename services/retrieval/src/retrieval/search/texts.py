"""What is compared of every candidate, whichever leg found it: the words of its text, and its document's title."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from relevance.soft_match import SoftMatcher
from relevance.wordpieces import NO_PIECES, separated
from retrieval.lexical.leg import LexicalLeg
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.ranking import fusion
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.candidate_rows import CandidateRow
from retrieval.reading.leg import EXCLUDED, LegQuery

log = logging.getLogger(__name__)
# From a grid search on the data sets of docs/figures.md, which is flat around these values and those of the legs.
TEXT_FEATURES = (Feature("soft_match", 0.4), Feature("title_named", 0.15))


class CandidateTexts:
    """Title terms by document, and wordpieces by chunk: read once, compared with every wording of the query.

    `soft_match`: see `relevance.soft_match`. `title_named`: the share of the title that the query names. Chunks whose
    document does not exist are excluded.
    """

    def __init__(self, matcher: SoftMatcher) -> None:
        self.matcher = matcher

    async def columns(
        self, found: Mapping[int, CandidateRow], chunks: Sequence[int], wordings: Sequence[LegQuery]
    ) -> list[Columns]:
        """Returns the columns of each wording."""
        if lost := len(chunks) - len(found):
            extra = {"workspace_id": str(wordings[0].snapshot.workspace_id), "chunks": lost}
            log.warning("left out chunks without a document: the index was changed out of band", extra=extra)
        return await asyncio.to_thread(self._compared, chunks, found, wordings)

    def _compared(
        self,
        chunks: Sequence[int],
        found: Mapping[int, CandidateRow],
        wordings: Sequence[LegQuery],
    ) -> list[Columns]:
        pieces = {chunk: row.pieces for chunk, row in found.items() if row.pieces is not None}
        if texts := {chunk: row.text or "" for chunk, row in found.items() if row.pieces is None}:
            pieces |= zip(texts, separated(self.matcher.pieces.distinct(list(texts.values()))), strict=True)
        of_chunks = [pieces.get(chunk, NO_PIECES) for chunk in chunks]
        lost = np.array([float(chunk not in found) for chunk in chunks])
        titles = {chunk >> ORDINAL_BITS: row.title for chunk, row in found.items()}
        columns: list[Columns] = []
        for leg_query in wordings:
            weights, weigh = weighing(leg_query)
            shares = {document: fusion.title_named(terms, weights) for document, terms in titles.items()}
            weighted = self.matcher.pieces.weighted(leg_query.query.text, weigh)
            columns.append(
                {
                    "soft_match": self.matcher.score.of_pieces(weighted, of_chunks),
                    "title_named": np.array([shares.get(chunk >> ORDINAL_BITS, 0.0) for chunk in chunks]),
                    EXCLUDED: lost,
                }
            )
        return columns


def weighing(leg_query: LegQuery) -> tuple[Mapping[str, float], Callable[[str], float]]:
    """Returns the weights of the query's terms, none if the lexical leg did not weigh them, and that of any word."""
    lexical = leg_query.leg(LexicalLeg)
    return (lexical.weights, lexical.word_weight) if lexical else ({}, lambda _: 1.0)
