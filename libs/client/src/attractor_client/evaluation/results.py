"""Results of an evaluation, as saved in a file for later comparison."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from attractor_client.evaluation.errors import BadDataset
from attractor_client.evaluation.metrics import means, percentile


class Expected(BaseModel):
    """`label` is the document's name or id, or the quote."""

    label: str
    grade: int
    title: str = ""


class RankedHit(BaseModel):
    """`grade` is 0 if the hit was not expected."""

    document: str
    place: str = ""
    score: float
    grade: int


class Answer(BaseModel):
    """`milliseconds` are measured by the client, `service_milliseconds` by the service; `error`: it was rejected."""

    metrics: dict[str, float]
    milliseconds: float = 0.0
    service_milliseconds: float = 0.0
    cached: bool = False
    hits: list[RankedHit] = []
    missing: list[str] = []
    legs_left_out: list[str] = []
    error: str | None = None


class QuestionResult(BaseModel):
    id: str
    text: str
    expected: list[Expected]
    answers: dict[str, Answer] = Field(description="By mode.")


class Latency(BaseModel):
    """Milliseconds of the answers that did not come from the cache."""

    p50: float
    p95: float
    service_p50: float
    service_p95: float
    answers: int

    @property
    def figures(self) -> tuple[float, float, float, float]:
        return self.p50, self.p95, self.service_p50, self.service_p95


class ModeSummary(BaseModel):
    metrics: dict[str, float]
    latency: Latency
    cached: int = 0
    errors: int = 0
    legs_left_out: dict[str, int] = Field(default={}, description="Answers without a leg, by leg and reason.")


class Evaluation(BaseModel):
    """The first of `modes` is the main one. `about` lists other settings, for people."""

    format: Literal["attractor-evaluation-1"]
    dataset: str
    at: datetime
    k: Annotated[int, Field(ge=1)]
    modes: Annotated[list[str], Field(min_length=1)]
    documents: int
    about: dict[str, str] = {}
    questions: list[QuestionResult]

    def summary(self, mode: str) -> ModeSummary:
        answers = [question.answers[mode] for question in self.questions if mode in question.answers]
        timed = [one for one in answers if not one.cached and not one.error]
        client = [one.milliseconds for one in timed]
        service = [one.service_milliseconds for one in timed]
        return ModeSummary(
            metrics=means([one.metrics for one in answers]),
            latency=Latency(
                p50=percentile(client, 0.5),
                p95=percentile(client, 0.95),
                service_p50=percentile(service, 0.5),
                service_p95=percentile(service, 0.95),
                answers=len(timed),
            ),
            cached=sum(one.cached for one in answers),
            errors=sum(bool(one.error) for one in answers),
            legs_left_out=dict(Counter(leg for one in answers for leg in one.legs_left_out)),
        )

    def save(self, file: Path) -> None:
        """Writes the result to a file, creating folders as needed. Raises OSError."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.model_dump_json(exclude_defaults=True, indent=1) + "\n", encoding="utf-8")


def load(file: Path) -> Evaluation:
    """Reads what `save` wrote. Raises BadDataset."""
    try:
        return Evaluation.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadDataset(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise BadDataset(f"{file} is not a saved evaluation result") from error
