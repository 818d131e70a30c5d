"""Judged questions from a folder in BEIR's layout: what a team would want its search to find."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath


class JudgementsInvalid(ValueError):
    """The folder does not hold judged questions; the message says what is wrong where."""


@dataclass(frozen=True)
class Question:
    """`grades`, of 1 and more, by what answers it: a document's name (with or without its ending) or id, or a chunk's
    id.
    """

    text: str
    grades: Mapping[str, int]

    def grade(self, name: str, document_id: str, chunk_id: str) -> int:
        """Of one passage; 0 where nothing says that it answers."""
        return max(self.grades.get(one, 0) for one in (name, PurePath(name).stem, document_id, chunk_id))


def read_questions(folder: Path) -> list[Question]:
    """`questions.jsonl` or `queries.jsonl` ({"id" or "_id", "text" or "question"}) and `qrels.tsv` or `qrels/test.tsv`
    (question, document, grade). Questions without an answer are left out. Raises JudgementsInvalid.
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
