"""BEIR-format folders: a corpus, questions, and grades of documents for questions."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attractor_client.evaluation.errors import BadDataset

LONGEST_UNDERLINED = 160  # characters of a title that the server recognises in plain text
UNSAFE = re.compile(r"[^\w.\-]+")


@dataclass(frozen=True)
class CorpusDocument:
    id: str
    title: str
    text: str

    def file(self) -> tuple[str, bytes]:
        """Returns plain text under an underlined title, or an HTML page with a heading if the title is too long."""
        title, name = " ".join(self.title.split()), UNSAFE.sub("_", self.id) or "_"
        if not title:
            return f"{name}.txt", self.text.encode("utf-8", "replace")
        if len(title) <= LONGEST_UNDERLINED and any(one.isalnum() for one in title):
            return f"{name}.txt", f"{title}\n{'=' * len(title)}\n\n{self.text}".encode("utf-8", "replace")
        paragraphs = "".join(f"<p>{html.escape(one)}</p>\n" for one in re.split(r"\n\s*\n", self.text))
        page = f"<!doctype html>\n<title>{html.escape(title)}</title>\n<h1>{html.escape(title)}</h1>\n{paragraphs}"
        return f"{name}.html", page.encode("utf-8", "replace")

    @property
    def content_hash(self) -> str:
        """Returns the SHA-256 of the file's bytes, by which the server recognises the document."""
        return hashlib.sha256(self.file()[1]).hexdigest()


@dataclass(frozen=True)
class Question:
    id: str
    text: str


@dataclass(frozen=True)
class Dataset:
    """A data set. `grades` above 0 by question and document; every question has at least one.

    `left_out` counts the questions without a grade, or with incomplete evidence (`supporting_complete` is false).
    """

    name: str
    documents: list[CorpusDocument]
    questions: list[Question]
    grades: dict[str, dict[str, int]]
    left_out: int


def is_dataset(folder: Path) -> bool:
    return (folder / "corpus.jsonl").is_file()


def read_dataset(folder: Path, split: str = "test") -> Dataset:
    """Reads a data set. `split` names the file of grades if there is a folder `qrels`. Raises BadDataset."""
    grades = _grades(folder, split)
    documents = [
        CorpusDocument(_id(row, place), str(row.get("title") or ""), str(row.get("text") or ""))
        for row, place in _rows(folder / "corpus.jsonl")
    ]
    questions_path = folder / "questions.jsonl"
    rows = list(_rows(questions_path if questions_path.is_file() else folder / "queries.jsonl"))
    questions = [
        Question(_id(row, place), _text(row, place))
        for row, place in rows
        if row.get("supporting_complete", True) and _id(row, place) in grades
    ]
    if not documents or not questions:
        raise BadDataset(f"{folder} has no {'questions with a grade' if documents else 'documents'}")
    for what, ids in (("document", [one.id for one in documents]), ("question", [one.id for one in questions])):
        if len(set(ids)) < len(ids):
            raise BadDataset(f"{folder} has a {what} twice: {Counter(ids).most_common(1)[0][0]}")
    return Dataset(folder.resolve().name, documents, questions, grades, len(rows) - len(questions))


def _grades(folder: Path, split: str) -> dict[str, dict[str, int]]:
    places = [folder / "qrels" / f"{split}.tsv", folder / "qrels.tsv"]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise BadDataset(f"{folder} has neither qrels.tsv nor qrels/{split}.tsv")
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(_lines(file), 1):
        # TREC's own format has another column between question and document.
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) not in (3, 4):
            raise BadDataset(f"{file}:{number}: expected question, document and grade")
        question, document, grade = fields[0].strip(), fields[-2].strip(), fields[-1].strip()
        try:
            value = int(float(grade))
        except ValueError:
            if number == 1:
                continue  # the header
            raise BadDataset(f"{file}:{number}: {grade!r} is not a grade") from None
        if value > 0:
            grades[question][document] = value
    return dict(grades)


def _rows(file: Path) -> Iterator[tuple[dict[str, Any], str]]:
    for number, line in enumerate(_lines(file), 1):
        place = f"{file}:{number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadDataset(f"{place}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise BadDataset(f"{place}: not a JSON object")
        yield row, place


def _lines(file: Path) -> list[str]:
    """Returns the non-empty lines; only a line feed ends one, because JSON may contain other separators."""
    try:
        return [line for line in file.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadDataset(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _id(row: dict[str, Any], place: str) -> str:
    value = row.get("_id", row.get("id"))
    if value is None:
        raise BadDataset(f"{place}: neither _id nor id")
    return str(value)


def _text(row: dict[str, Any], place: str) -> str:
    value = row.get("question") or row.get("text")
    if not isinstance(value, str) or not value.strip():
        raise BadDataset(f"{place}: no text")
    return value
