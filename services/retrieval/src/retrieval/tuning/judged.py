"""Judged questions: what a team would want its search to find.

A folder in BEIR's layout, or a file of its own questions as `attractor eval` reads it (`contracts.questions`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NamedTuple
from uuid import UUID

import yaml

from contracts.questions import OwnQuestion, QuestionsInvalid, comparable, own_questions


class JudgementsInvalid(ValueError):
    """There are no judged questions to read; the message says what is wrong where."""


class Passage(NamedTuple):
    """A candidate, with all that a question may know it by."""

    number: int
    name: str
    document_id: UUID
    chunk_id: str
    source_path: str | None
    source_uri: str | None
    content: str


class Judgement(NamedTuple):
    """By passage: what it counts as, of which each counts once, and its grade."""

    units: list[int]
    grades: list[int]


@dataclass(frozen=True)
class Question:
    """`grades`, of 1 and more, by what answers it: a document's name (with or without its ending), id, source path or
    address, or a chunk's id. `quotes`: passages have to have these, in the documents of `grades` where there are any.
    """

    text: str
    grades: Mapping[str, int]
    quotes: tuple[str, ...] = ()

    @property
    def ideal(self) -> list[int]:
        """The grades of all that answers it, the best first."""
        return [1] * len(self.quotes) or sorted(self.grades.values(), reverse=True)

    def grade(self, passage: Passage) -> int:
        """Of the document; 0 where nothing says that it answers."""
        name, path, uri = passage.name, passage.source_path, passage.source_uri
        known_by = (name, PurePath(name).stem, str(passage.document_id), passage.chunk_id, path, uri)
        return max(self.grades.get(one, 0) for one in known_by if one)

    def judge(self, passages: Sequence[Passage]) -> Judgement:
        """Documents count, or quotes where there are any: a passage as the first one that it has, else as itself."""
        if not self.quotes:
            documents = {one: at for at, one in enumerate(dict.fromkeys(each.document_id for each in passages))}
            return Judgement([documents[one.document_id] for one in passages], [self.grade(one) for one in passages])
        units = [self._quote(one) for one in passages]
        return Judgement(
            [len(self.quotes) + at if unit is None else unit for at, unit in enumerate(units)],
            [0 if unit is None else 1 for unit in units],
        )

    def _quote(self, passage: Passage) -> int | None:
        if self.grades and not self.grade(passage):
            return None
        content = comparable(passage.content)
        return next((at for at, quote in enumerate(self.quotes) if comparable(quote) in content), None)


def read_questions(place: Path) -> list[Question]:
    """Of a folder in BEIR's layout, or of a file of a team's own questions. Raises JudgementsInvalid."""
    return _of_folder(place) if place.is_dir() else [_of_own(one) for one in _own(place)]


def _own(file: Path) -> list[OwnQuestion]:
    try:
        text = file.read_text("utf-8-sig")
        if file.suffix.lower() in (".jsonl", ".ndjson"):
            return own_questions([json.loads(line) for line in text.split("\n") if line.strip()], str(file))
        return own_questions(yaml.safe_load(text), str(file))
    except QuestionsInvalid as error:
        raise JudgementsInvalid(str(error)) from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise JudgementsInvalid(f"{file} cannot be read: {' '.join(str(error).split())}") from error


def _of_own(question: OwnQuestion) -> Question:
    grades = {one.document: one.grade for one in question.graded}
    return Question(question.question, grades, tuple(question.passages))


def _of_folder(folder: Path) -> list[Question]:
    """`questions.jsonl` or `queries.jsonl` ({"id" or "_id", "text" or "question"}) and `qrels.tsv` or `qrels/test.tsv`
    (question, document, grade). Questions without an answer are left out.
    """
    grades = _grades(_first(folder, "qrels.tsv", "qrels/test.tsv"))
    questions = []
    file = _first(folder, "questions.jsonl", "queries.jsonl")
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            asked = json.loads(line)
            identity, text = str(asked.get("id", asked.get("_id"))), asked.get("text") or asked["question"]
        except (ValueError, KeyError, AttributeError) as error:
            raise JudgementsInvalid(f"{file}, line {number}: not a question") from error
        if identity in grades and asked.get("supporting_complete", True):
            questions.append(Question(text, grades[identity]))
    return questions


def _grades(file: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        fields = line.split("\t")
        if len(fields) == 3 and fields[2].strip().lstrip("-").isdecimal():
            if int(fields[2]) > 0:
                grades.setdefault(fields[0], {})[fields[1]] = int(fields[2])
        elif number > 1:
            raise JudgementsInvalid(f"{file}, line {number}: not a question, a document and a grade")
    return grades


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise JudgementsInvalid(f"{folder} has no {' and no '.join(names)}")
