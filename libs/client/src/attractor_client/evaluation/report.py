"""Writes an evaluation as one self-contained HTML page: no script, font or image."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from attractor_client.evaluation.comparison import Comparison, signed
from attractor_client.evaluation.results import Answer, Evaluation, ModeSummary, QuestionResult


@dataclass(frozen=True)
class Row:
    """A question with its answer in the first mode, and the baseline's answer if there is one.

    `titles` are the titles of the expected results, by label.
    """

    question: QuestionResult
    answer: Answer
    before: Answer | None
    value: float
    delta: float | None
    titles: dict[str, str]


def render(
    evaluation: Evaluation, metric: str, comparison: Comparison | None = None, baseline: Evaluation | None = None
) -> str:
    """Returns the page. Questions that changed come first, then those that were answered worst."""
    templates = Environment(
        loader=PackageLoader("attractor_client.evaluation", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(figure=lambda value: f"{value:.4f}", signed=signed)
    summaries = {mode: evaluation.summary(mode) for mode in evaluation.modes}
    return templates.get_template("report.html.j2").render(
        evaluation=evaluation,
        metric=metric,
        mode=evaluation.modes[0],
        summaries=summaries,
        best=best_values(summaries),
        comparison=comparison,
        rows=rows(evaluation, metric, baseline),
    )


def write(file: Path, page: str) -> None:
    """Writes the page, creating folders as needed. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8")


def rows(evaluation: Evaluation, metric: str, baseline: Evaluation | None) -> list[Row]:
    mode = evaluation.modes[0]
    earlier = {(one.id, one.text): one.answers.get(mode) for one in baseline.questions} if baseline else {}
    found = []
    for question in evaluation.questions:
        answer, before = question.answers[mode], earlier.get((question.id, question.text))
        value = answer.metrics[metric]
        old = before.metrics.get(metric) if before else None
        titles = {one.label: one.title for one in question.expected}
        found.append(Row(question, answer, before, value, None if old is None else value - old, titles))
    return sorted(found, key=lambda row: (-abs(row.delta or 0.0), row.value))


def best_values(summaries: dict[str, ModeSummary]) -> dict[str, float]:
    """Returns the highest value of each metric."""
    measures = next(iter(summaries.values())).metrics
    return {name: max(summary.metrics[name] for summary in summaries.values()) for name in measures}
