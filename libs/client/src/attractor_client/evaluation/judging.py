"""Judges which expected results a list of hits contains, and at which ranks. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from attractor_client.evaluation.dataset import Question
from contracts.questions import comparable
from contracts.retrieval import Hit


@dataclass(frozen=True)
class Target:
    """An expected result: a hit in one of `documents` (None: any) that contains `passage`, if given.

    If `documents` is empty, the target is not in the workspace and is never found. `title` is for people.
    """

    label: str
    grade: int
    documents: frozenset[UUID] | None
    passage: str | None = None
    title: str = ""


@dataclass(frozen=True)
class JudgedQuestion:
    question: Question
    targets: tuple[Target, ...]

    @property
    def by_passage(self) -> bool:
        return any(target.passage for target in self.targets)


@dataclass(frozen=True)
class JudgedHit:
    hit: Hit
    grade: int


@dataclass(frozen=True)
class JudgedHits:
    """`ranked` has the grade of each result; `hits` are those that count; `missing` targets were not found."""

    ranked: list[int]
    hits: list[JudgedHit]
    missing: list[Target]


def judge(hits: Sequence[Hit], judged: JudgedQuestion, k: int) -> JudgedHits:
    """Judges the first `k` hits. A document counts once, at its best chunk, unless passages are expected.

    Duplicates folded into a hit count as found with it. If one hit contains several expected results, they take
    successive ranks, so that no list can score better than the ideal one.
    """
    open_targets = list(judged.targets)
    ranked: list[int] = []
    counted: list[JudgedHit] = []
    seen: set[UUID] = set()
    for hit in hits:
        if len(ranked) >= k:
            break
        documents = {hit.document_id, *(one.document_id for one in hit.duplicates)}
        text = comparable(hit.content) if judged.by_passage else ""
        found = [one for one in open_targets if _fits(one, documents, text)]
        if not found and not judged.by_passage and hit.document_id in seen:
            continue
        seen |= documents
        open_targets = [one for one in open_targets if one not in found]
        grades = sorted((one.grade for one in found), reverse=True) or [0]
        ranked += grades
        counted.append(JudgedHit(hit, grades[0]))
    return JudgedHits(ranked[:k], counted, open_targets)


def _fits(target: Target, documents: set[UUID], text: str) -> bool:
    if target.documents is not None and not target.documents & documents:
        return False
    return target.passage is None or comparable(target.passage) in text
