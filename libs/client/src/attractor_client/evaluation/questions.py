"""A team's own questions: YAML or JSON Lines that name the documents, and perhaps the passages, that answer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from attractor_client.evaluation.dataset import Question
from attractor_client.evaluation.errors import BadDataset
from attractor_client.evaluation.judging import JudgedQuestion, Target
from contracts.ingestion import Document
from contracts.questions import OwnQuestion, QuestionsInvalid, own_questions


def read_questions(file: Path) -> list[OwnQuestion]:
    """Reads JSON Lines, or a YAML list, perhaps under the key `questions`. Raises BadDataset."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        rows = _json_lines(text) if file.suffix.lower() in (".jsonl", ".ndjson") else yaml.safe_load(text)
    except OSError as error:
        raise BadDataset(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, yaml.YAMLError) as error:
        raise BadDataset(f"{file} cannot be read: {' '.join(str(error).split())}") from error
    try:
        return own_questions(rows, str(file))
    except QuestionsInvalid as error:
        raise BadDataset(str(error)) from error


def expectations(questions: Iterable[OwnQuestion], documents: Iterable[Document]) -> list[JudgedQuestion]:
    """Returns the questions with what each should find. Raises BadDataset, which names all missing documents."""
    known: dict[str, set[UUID]] = defaultdict(set)
    for document in documents:
        for name in (str(document.id), document.name, document.source_path, document.source_uri):
            if name:
                known[name].add(document.id)
    questions = list(questions)
    absent = {one.document for question in questions for one in question.graded if one.document not in known}
    if absent:
        raise BadDataset(f"not in the workspace: {', '.join(sorted(absent))}")
    return [JudgedQuestion(Question(one.identity, one.question), _targets(one, known)) for one in questions]


def _targets(question: OwnQuestion, known: Mapping[str, set[UUID]]) -> tuple[Target, ...]:
    places = [Target(one.document, one.grade, frozenset(known[one.document])) for one in question.graded]
    named = frozenset(document for one in question.graded for document in known[one.document])
    return tuple(Target(quote, 1, named or None, quote) for quote in question.passages) or tuple(places)


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]
