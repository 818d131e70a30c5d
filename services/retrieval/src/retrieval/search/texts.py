"""What is compared of every candidate, whichever leg found it: the words of its text, and its document's title."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

import numpy as np

from relevance.soft_match import SoftMatcher
from retrieval.lexical.leg import LexicalLeg
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.ranking import fusion
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.arrays import array_text
from retrieval.reading.leg import EXCLUDED, LegQuery
from retrieval.reading.reader import Cursor, IndexReader, ReadingSql

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

    async def ask(self, reader: IndexReader, chunks: Sequence[int]) -> tuple[Cursor, Cursor]:
        """Sends the statements whose rows `columns` reads."""
        documents = sorted({chunk >> ORDINAL_BITS for chunk in chunks})
        facts = await reader.execute(ReadingSql.candidate_facts, {"chunks": array_text(chunks)}, binary=True)
        return facts, await reader.execute(
            ReadingSql.candidate_titles, {"documents": array_text(documents)}, binary=True
        )

    async def columns(
        self, leg_query: tuple[Cursor, Cursor], chunks: Sequence[int], wordings: Sequence[LegQuery]
    ) -> list[Columns]:
        """Returns the columns of each wording."""
        rows = await leg_query[0].fetchall()
        titles: dict[int, Sequence[str]] = dict(await leg_query[1].fetchall())
        found = {row[0]: row[1:] for row in rows if row[0] >> ORDINAL_BITS in titles}
        if lost := len(chunks) - len(found):
            extra = {"workspace_id": str(wordings[0].snapshot.workspace_id), "chunks": lost}
            log.warning("left out chunks without a document: the index was changed out of band", extra=extra)
        return await asyncio.to_thread(self._compared, chunks, found, titles, wordings)

    def _compared(
        self,
        chunks: Sequence[int],
        found: Mapping[int, tuple[bytes | None, str | None]],
        titles: Mapping[int, Sequence[str]],
        wordings: Sequence[LegQuery],
    ) -> list[Columns]:
        pieces = {chunk: stored for chunk, (stored, _) in found.items() if stored is not None}
        if texts := {chunk: text or "" for chunk, (stored, text) in found.items() if stored is None}:
            pieces |= zip(texts, self.matcher.pieces.distinct(list(texts.values())), strict=True)
        stored = [pieces.get(chunk, b"") for chunk in chunks]
        lost = np.array([float(chunk not in found) for chunk in chunks])
        columns: list[Columns] = []
        for leg_query in wordings:
            lexical = leg_query.leg(LexicalLeg)
            weights = lexical.weights if lexical else {}
            weigh = lexical.word_weight if lexical else alike
            shares = {document: fusion.title_named(terms, weights) for document, terms in titles.items()}
            columns.append(
                {
                    "soft_match": self.matcher.score(self.matcher.pieces.weighted(leg_query.query.text, weigh), stored),
                    "title_named": np.array([shares.get(chunk >> ORDINAL_BITS, 0.0) for chunk in chunks]),
                    EXCLUDED: lost,
                }
            )
        return columns


def alike(_: str) -> float:
    """Weighs all words alike, where the lexical leg did not run."""
    return 1.0
