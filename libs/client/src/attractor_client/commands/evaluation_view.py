"""Shows evaluations to people at a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from attractor_client.evaluation.comparison import Comparison, Verdict, signed
from attractor_client.evaluation.corpus import PlacedDocument
from attractor_client.evaluation.results import Evaluation
from attractor_client.output import Output
from attractor_client.rendering import one_line

STYLES = {Verdict.better: "green", Verdict.worse: "red", Verdict.same: ""}
SHOWN_QUESTIONS = 10
SHOWN_REASONS = 5
LONGEST_QUESTION = 90


class EvaluationProgress(Progress):
    """A progress bar at a terminal: the current step, how much of it is done, and the time left."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal or console.is_dumb_terminal,
        )
        self.task, self.step = self.add_task("starting", total=None), ""

    def __call__(self, step: str, done: int, total: int) -> None:
        if step != self.step:
            self.step = step
            self.reset(self.task, description=step, total=total)
        self.update(self.task, completed=done, total=total)


def note_corpus(output: Output, placed: PlacedDocument) -> None:
    """Notes what happened to the documents of a data set, if it matters for reading the figures."""
    output.note(f"{len(placed.documents)} documents of the corpus are searchable, {placed.uploaded} of them new")
    if placed.refused:
        output.note(f"{len(placed.refused)} are not searchable and count as not found:", "yellow")
        for name, reason in list(placed.refused.items())[:SHOWN_REASONS]:
            output.note(f"  {name}: {reason}", "yellow")
    if placed.incomplete:
        output.note(f"{placed.incomplete} have no vectors: only lexical search finds them", "yellow")
    if placed.others:
        output.note(f"{placed.others} other documents of the workspace are searched as well", "yellow")


def show_evaluation(output: Output, evaluation: Evaluation) -> None:
    """Prints one line per mode: measures, then times."""
    output.text(
        f"{evaluation.dataset}: {len(evaluation.questions)} questions, {evaluation.documents} documents", "bold"
    )
    summaries = [(mode, evaluation.summary(mode)) for mode in evaluation.modes]
    measures = list(summaries[0][1].metrics)
    output.table(
        ("mode", *measures),
        [(mode, *(f"{summary.metrics[name]:.4f}" for name in measures)) for mode, summary in summaries],
    )
    output.text()
    times = [(mode, summary.latency) for mode, summary in summaries]
    output.table(
        ("mode", "p50 ms", "p95 ms", "in the service: p50 ms", "p95 ms"),
        [(mode, *(f"{value:.1f}" if one.answers else "-" for value in one.figures)) for mode, one in times],
    )
    for mode, summary in summaries:
        if summary.errors:
            output.note(f"{mode}: {summary.errors} questions were rejected and count as not answered", "yellow")
        for leg, count in summary.legs_left_out.items():
            output.note(f"{mode}: {count} answers without the leg {leg}", "yellow")
        if summary.cached:
            output.note(f"{mode}: {summary.cached} cached answers are not timed")


def show_comparison(output: Output, comparison: Comparison) -> None:
    """Prints the chosen measure in every mode, all measures of the first mode, and the questions that changed most."""
    output.text(f"\nCompared with {comparison.baseline}: {comparison.questions} common questions", "bold")
    shown = [one for one in comparison.changes if comparison.metric == one.metric or comparison.mode == one.mode]
    rows = [
        (
            one.mode,
            one.metric,
            f"{one.before:.4f}",
            f"{one.after:.4f}",
            Text(signed(one.delta), style=STYLES[one.verdict]),
            f"{one.p:.3f}",
            one.better,
            one.worse,
        )
        for one in shown
    ]
    output.table(("mode", "measure", "before", "now", "change", "p", "better", "worse"), rows)
    if not comparison.changed:
        output.text(f"\nno question changed in {comparison.metric} of {comparison.mode}", "dim")
        return
    output.text(f"\n{len(comparison.changed)} questions changed in {comparison.metric} of {comparison.mode}", "bold")
    for one in comparison.changed[:SHOWN_QUESTIONS]:
        output.text(
            f"{signed(one.delta)}  {one_line(one.text, LONGEST_QUESTION)}  ({one.before:.4f} to {one.after:.4f})"
        )
    if len(comparison.changed) > SHOWN_QUESTIONS:
        output.text(f"and {len(comparison.changed) - SHOWN_QUESTIONS} more (--html shows all)", "dim")
