"""A team's own questions: YAML or JSON Lines that name the documents, and perhaps the passages, that answer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from attractor_client.evaluation.dataset import Question
from attractor_client.evaluation.errors import BadDataset
from attractor_client.evaluation.judging import Asked, Target
from contracts.ingestion import Document

Words = Annotated[str, Field(min_length=1)]


class GradedDocument(BaseModel):
    """`grade` says how well it answers; 1 when the document is given as its name alone."""

    model_config = ConfigDict(extra="forbid")

    document: Words
    grade: Annotated[int, Field(ge=1, le=10)] = 1


class OwnQuestion(BaseModel):
    """`documents`: names, ids, source paths or addresses. `passages`: quotes, each of which a hit has to contain; a hit
    in one of `documents` where some are named. Without passages a hit anywhere in a document counts.
    """

    model_config = ConfigDict(extra="forbid")

    question: Words
    id: Words | None = None
    documents: list[Words | GradedDocument] = []
    passages: list[Words] = []

    @model_validator(mode="after")
    def _expects_something(self) -> OwnQuestion:
        if not (self.documents or self.passages):
            raise ValueError("name documents or passages that answer it")
        return self

    @property
    def graded(self) -> list[GradedDocument]:
        return [GradedDocument(document=one) if isinstance(one, str) else one for one in self.documents]


def read_questions(file: Path) -> list[OwnQuestion]:
    """From JSON Lines, or from a YAML list, which may stand under `questions`. Raises BadDataset."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        rows = _json_lines(text) if file.suffix.lower() in (".jsonl", ".ndjson") else yaml.safe_load(text)
    except OSError as error:
        raise BadDataset(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, yaml.YAMLError) as error:
        raise BadDataset(f"{file} cannot be read: {' '.join(str(error).split())}") from error
    if isinstance(rows, dict):
        rows = rows.get("questions")
    if not isinstance(rows, list) or not rows:
        raise BadDataset(f"{file} has no list of questions")
    questions = [_question(row, f"{file}, question {number}") for number, row in enumerate(rows, 1)]
    ids = [identity(one) for one in questions]
    if repeated := {one for one in ids if ids.count(one) > 1}:
        raise BadDataset(f"{file} has a question twice: {', '.join(sorted(repeated))} (give them ids)")
    return questions


def identity(question: OwnQuestion) -> str:
    """What two runs know a question by."""
    return question.id or " ".join(question.question.split())


def expectations(questions: Iterable[OwnQuestion], documents: Iterable[Document]) -> list[Asked]:
    """The questions with what has to be found for each. Raises BadDataset naming all documents that are not there."""
    known: dict[str, set[UUID]] = defaultdict(set)
    for document in documents:
        for name in (str(document.id), document.name, document.source_path, document.source_uri):
            if name:
                known[name].add(document.id)
    questions = list(questions)
    absent = {one.document for question in questions for one in question.graded if one.document not in known}
    if absent:
        raise BadDataset(f"not among the documents of the workspace: {', '.join(sorted(absent))}")
    return [Asked(Question(identity(one), one.question), _targets(one, known)) for one in questions]


def _targets(question: OwnQuestion, known: Mapping[str, set[UUID]]) -> tuple[Target, ...]:
    places = [Target(one.document, one.grade, frozenset(known[one.document])) for one in question.graded]
    named = frozenset(document for one in question.graded for document in known[one.document])
    return tuple(Target(quote, 1, named or None, quote) for quote in question.passages) or tuple(places)


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _question(row: object, place: str) -> OwnQuestion:
    try:
        return OwnQuestion.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise BadDataset(f"{place}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
