"""Parts that may be quoted, with the headings above them, and which words say the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from orchestrator.citations.question import RELATED_WORDS, Kind, QuestionPart, kind_of, question_terms
from orchestrator.citations.quotable import QuotablePart
from orchestrator.citations.terms import terms
from relevance.designators import Designator, designators

ADDRESS = re.compile(r"\b[a-z]{3,10}://\S++")
LONGEST_QUESTION = 200  # characters of a heading that asks something
_ENDINGS = frozenset(["e", "n", "en", "er", "ern", "es", "em", "t", "et", "te", "ten"])
_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class PassageHeading:
    """The title and headings of a passage and its file's name, analysed once for all its parts.

    `begins`: the passage is the first of its document.
    """

    title: str
    section: str
    document_name: str = ""
    begins: bool = False

    @cached_property
    def last(self) -> str:
        """Returns the heading directly above the passage."""
        return self.section.rpartition(" > ")[2]

    @cached_property
    def terms(self) -> frozenset[str]:
        return terms_of(f"{self.title} {self.section}")

    @cached_property
    def titled(self) -> frozenset[str]:
        return terms_of(self.title)

    @cached_property
    def own(self) -> frozenset[str]:
        """Returns the terms of the last heading that are not in the title."""
        return terms_of(self.last) - self.titled

    @cached_property
    def called(self) -> frozenset[Designator]:
        return designators(f"{self.title} {self.document_name}")

    def names(self, term: str) -> bool:
        """Returns whether the document's title or file name has the term: INC-112 is an incident."""
        return (
            term in self._names
            or any(
                (len(name) > 2 and term.startswith(name)) or term.lstrip("0") == number for name, number in self.called
            )
            or not self._names.isdisjoint(RELATED_WORDS.get(term, ()))
            or _family(term, self._names)
        )

    @cached_property
    def _names(self) -> frozenset[str]:
        return terms_of(f"{self.title} {self.document_name}")

    @cached_property
    def asks(self) -> Kind:
        """Returns the kind of answer that the last heading asks for."""
        return kind_of(self.last[:LONGEST_QUESTION])


@dataclass(frozen=True)
class QuotationCandidate:
    """A part of passage number `passage`, with the passage's heading and its search score.

    Words in addresses count only with `addresses`.
    """

    passage: int
    part: QuotablePart
    heading: PassageHeading
    score: float
    addresses: bool = False

    @cached_property
    def own(self) -> frozenset[str]:
        return terms_of(self.part.said if self.addresses else ADDRESS.sub(" ", self.part.said))

    @cached_property
    def before(self) -> frozenset[str]:
        return terms_of(self.part.before) if self.part.before else frozenset()

    @cached_property
    def columns(self) -> frozenset[str]:
        return terms_of(" ".join(self.part.columns)) if self.part.columns else frozenset()

    def names(self, names: Sequence[str]) -> bool:
        """Returns whether one of the names occurs in the part, in its referent or in its heading."""
        there = f"{self.part.said} {self.part.before} {self.heading.title} {self.heading.section}".casefold()
        return any(name.casefold() in there for name in names)


def put_differently(question: QuestionPart, term: str, there: frozenset[str]) -> bool:
    """Returns whether a related or akin word occurs there."""
    return not there.isdisjoint(RELATED_WORDS.get(term, ())) or akin(question, term, there)


def akin(question: QuestionPart, term: str, there: frozenset[str]) -> bool:
    """Returns whether another form of the word occurs there, or, if the question is German, a compound with it."""
    return _family(term, there) or (question.german and any(_joined_with(term, other) for other in there))


def _family(term: str, there: frozenset[str]) -> bool:
    """Returns whether a word of the same family occurs there: migrate and migration, identify and identification."""
    return len(term) > 4 and any(
        other[:5] == term[:5] and (abs(len(other) - len(term)) < 6 or other[:7] == term[:7]) for other in there
    )


def _joined_with(term: str, other: str) -> bool:
    """Returns whether one German word is the other with an ending, or joined with a further word: Dach, Dachdecker."""
    short, long = sorted((term, other), key=len)
    if len(short) < 4 or not long.isalpha():
        return False
    rest = long.removeprefix(short)
    joined = len(long) >= len(short) + 3 and (len(rest) < len(long) or long.endswith(short))
    return joined or (len(rest) < len(long) and rest in _ENDINGS)


def terms_of(text: str) -> frozenset[str]:
    """Returns the terms, including those of the words in joined names (BillingRouter)."""
    spaced = _JOINT.sub(" ", text)
    return question_terms(text) if spaced == text else question_terms(text) | terms(spaced)
