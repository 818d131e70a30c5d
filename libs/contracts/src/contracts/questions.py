"""A team's own questions and their answers, as a file. `docs/evaluation.md` describes it."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Words = Annotated[str, Field(min_length=1)]


class QuestionsInvalid(ValueError):
    """The message says what is wrong, and in which question."""


class GradedDocument(BaseModel):
    """`grade` says how well the document answers; 1 if it is given by its name alone."""

    model_config = ConfigDict(extra="forbid")

    document: Words
    grade: Annotated[int, Field(ge=1, le=10)] = 1


class OwnQuestion(BaseModel):
    """`documents`: names, ids, source paths or addresses. `passages`: quotes, each of which must be in a hit, and in a
    hit from one of `documents` if any are given. Without passages, any hit from one of the documents counts.
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

    @property
    def identity(self) -> str:
        """Identifies the question across runs."""
        return self.id or " ".join(self.question.split())


def own_questions(rows: Any, place: str) -> list[OwnQuestion]:
    """Reads a list of objects, perhaps under `questions`; errors name its `place`. Raises QuestionsInvalid."""
    if isinstance(rows, dict):
        rows = rows.get("questions")
    if not isinstance(rows, list) or not rows:
        raise QuestionsInvalid(f"{place} has no list of questions")
    questions = [_question(row, f"{place}, question {number}") for number, row in enumerate(rows, 1)]
    ids = [one.identity for one in questions]
    if repeated := {one for one in ids if ids.count(one) > 1}:
        raise QuestionsInvalid(f"{place} has a question twice: {', '.join(sorted(repeated))} (give them ids)")
    return questions


def comparable(text: str) -> str:
    """Returns the text normalised to compare quotes, which ignores case, white space and compatibility forms."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _question(row: object, place: str) -> OwnQuestion:
    try:
        return OwnQuestion.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise QuestionsInvalid(f"{place}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
