"""Finds the topic of chunks that begin with no name: "She moved to Oslo", "The film was shot in Rome"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from knowledge_graph.extraction.definitions import WORKS
from knowledge_graph.extraction.names import KINDS, OFFICES
from knowledge_graph.extraction.records import Mention

GOES_ON = re.compile(r"[\s\"“*_]*(?:(He|She|His|Her)|(It|Its)|(They|Their)|(?:The|This) ([a-z]+))\b")
SURE = ("definition", "title")


class Topics:
    """The topics of a document up to the current position: the person and the thing last spoken of."""

    def __init__(self) -> None:
        self._person: Mention | None = None
        self._thing: Mention | None = None

    def continued(self, text: str, chunk_id: str) -> Mention | None:
        """Returns the topic as a mention without a position, if the chunk begins with words that refer to it."""
        opens = GOES_ON.match(text)
        if opens is None:
            return None
        person, thing, several, noun = opens.groups()
        if noun and noun not in KINDS | WORKS | OFFICES:
            return None
        topic = self._person if person or noun in OFFICES else self._thing if thing or noun else None
        if several:
            topic = self._thing or self._person
        if topic is None:
            return None
        return replace(topic, about="subject", chunk_id=chunk_id, start=0, end=0, sentence_start=0, sentence_end=0)

    def follow(self, mentions: Sequence[Mention]) -> None:
        """Moves on to what a chunk defines or is titled; to its first subject only if there was no topic yet."""
        sure = [one for one in mentions if one.about in SURE]
        unsure = [one for one in mentions if one.about == "subject"]
        self._person = _first(sure, person=True) or self._person or _first(unsure, person=True)
        self._thing = _first(sure, person=False) or self._thing or _first(unsure, person=False)


def _first(mentions: Sequence[Mention], *, person: bool) -> Mention | None:
    return next((one for one in mentions if (one.entity_type == "PERSON") == person), None)
