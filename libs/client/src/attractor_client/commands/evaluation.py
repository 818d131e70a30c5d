"""attractor eval"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.evaluation_view import EvaluationProgress, note_corpus, show_comparison, show_evaluation
from attractor_client.errors import AttractorError, Forbidden
from attractor_client.evaluation import report
from attractor_client.evaluation.comparison import Comparison, compare
from attractor_client.evaluation.limits import Floor, below, read_floor, worse
from attractor_client.evaluation.metrics import metric_names
from attractor_client.evaluation.remembering import measure_recall, read_conversations
from attractor_client.evaluation.results import Evaluation, load
from attractor_client.evaluation.running import Plan, evaluate
from attractor_client.invocation import FAILED, Json, connected, run
from attractor_client.output import Output
from contracts.retrieval import SearchMode

app = typer.Typer(no_args_is_help=True, help="Evaluate search quality and recall, and compare results.")
INPUT, ASKING, RESULT = "Data set and workspace", "Asking", "Result"

Baseline = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Compare with this saved result.", rich_help_panel=RESULT)
]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report.", rich_help_panel=RESULT)]
Metric = Annotated[
    str | None, typer.Option(help="Metric to compare; default: nDCG at k, such as ndcg@10.", rich_help_panel=RESULT)
]
Below = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=VALUE",
        help="Exit with code 1 below this value; also MODE:METRIC=VALUE.",
        rich_help_panel=RESULT,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(min=0, help="Exit with code 1 if any mode falls below the baseline by more.", rich_help_panel=RESULT),
]


@app.command("run")
def run_evaluation(
    ctx: typer.Context,
    dataset: Annotated[Path, typer.Argument(help="A BEIR-format folder, or a YAML or JSONL file of questions.")],
    workspace: Annotated[
        str | None,
        typer.Option(
            "--workspace",
            "-w",
            help="Workspace name or id; created if missing when a corpus is given.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    new_workspace: Annotated[
        bool,
        typer.Option("--new-workspace", help="Use a new workspace and delete it at the end.", rich_help_panel=INPUT),
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the new workspace.", rich_help_panel=INPUT)] = False,
    here: Annotated[
        bool, typer.Option("--here", help="Load the corpus into the key's own workspace.", rich_help_panel=INPUT)
    ] = False,
    split: Annotated[str, typer.Option(help="Which file of a qrels folder to use.", rich_help_panel=INPUT)] = "test",
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Ask only the first N questions.", rich_help_panel=INPUT)
    ] = None,
    modes: Annotated[
        str, typer.Option(help="Modes to evaluate; the first is the main one.", rich_help_panel=ASKING)
    ] = "hybrid,convex,rrf,lexical,dense",
    k: Annotated[
        int, typer.Option("-k", "--k", min=1, max=100, help="Number of results to judge.", rich_help_panel=ASKING)
    ] = 10,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=32, help="Questions to ask in parallel.", rich_help_panel=ASKING)
    ] = 1,
    no_graph: Annotated[
        bool, typer.Option("--no-graph", help="Do not use the knowledge graph.", rich_help_panel=ASKING)
    ] = False,
    no_rerank: Annotated[
        bool, typer.Option("--no-rerank", help="Do not use the reranker.", rich_help_panel=ASKING)
    ] = False,
    fold_duplicates: Annotated[
        bool,
        typer.Option("--fold-duplicates", help="Fold near-duplicates, as users see results.", rich_help_panel=ASKING),
    ] = False,
    baseline: Baseline = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the result, for use as a baseline.", rich_help_panel=RESULT),
    ] = None,
    html: Html = None,
    metric: Metric = None,
    fail_below: Below = None,
    tolerance: Tolerance = None,
    json: Json = False,
) -> None:
    """Ask the questions of a data set and measure the results.

    A BEIR-format folder has corpus.jsonl, queries.jsonl (or questions.jsonl) and qrels.tsv (or qrels/test.tsv). Its
    documents are uploaded once, into a workspace of their own ("evaluation NAME"), and the command waits for them. A
    file of your own questions is asked against the existing documents.

    \b
    Examples:
      attractor eval run datasets/scifact --save scifact.json --html scifact.html
      attractor eval run questions.yaml --baseline last.json --tolerance 0.01
      attractor eval run questions.yaml --fail-below recall@5=0.9 --json
    """
    if here and (workspace or new_workspace):
        raise typer.BadParameter("--here cannot be combined with --workspace or --new-workspace")
    search_modes = _modes(modes)
    chosen = _metric(metric, k)
    floors = _floors(fail_below, k, [mode.value for mode in search_modes])
    plan = Plan(
        dataset=dataset,
        modes=search_modes,
        k=k,
        workspace=workspace,
        new_workspace=new_workspace,
        keep=keep,
        here=here,
        split=split,
        limit=limit,
        jobs=jobs,
        use_graph=not no_graph,
        rerank=not no_rerank,
        fold_duplicates=fold_duplicates,
    )

    async def work(client: AttractorClient, output: Output) -> None:
        before = load(baseline) if baseline else None
        with EvaluationProgress(output.notes) as progress:
            try:
                found = await evaluate(client, plan, progress, output.note, lambda placed: note_corpus(output, placed))
            except Forbidden as error:
                if not dataset.is_dir():
                    raise
                advice = "a corpus requires an editor's key with --here, otherwise an administrator's"
                raise Forbidden(error.title, advice, status=error.status) from error
        _conclude(output, found, before, chosen, floors, tolerance, save, html)

    run(ctx, json, work, patient=True)


@app.command("compare")
@connected()
async def compare_results(
    _: AttractorClient,
    output: Output,
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A result written by --save.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later result.")],
    html: Html = None,
    metric: Metric = None,
    fail_below: Below = None,
    tolerance: Tolerance = None,
) -> None:
    """Compare two saved results; needs no server.

    \b
    Example:
      attractor eval compare main.json branch.json --tolerance 0.005
    """
    old, new = load(before), load(after)
    floors = _floors(fail_below, new.k, new.modes)
    _conclude(output, new, old, _metric(metric, new.k), floors, tolerance, None, html)


def _conclude(
    output: Output,
    found: Evaluation,
    baseline: Evaluation | None,
    metric: str,
    floors: Sequence[Floor],
    tolerance: float | None,
    save: Path | None,
    html: Path | None,
) -> None:
    if save:
        _write(output, save, found.save)
    comparison = compare(baseline, found, metric) if baseline else None
    reasons = below(found, floors)
    if comparison and tolerance is not None:
        reasons += worse(comparison, tolerance)
    if output.as_json:
        output.json(_as_json(found, comparison, reasons))
    else:
        show_evaluation(output, found)
        if comparison:
            show_comparison(output, comparison)
    if html:
        page = report.render(found, metric, comparison, baseline)
        _write(output, html, lambda file: report.write(file, page))
    for reason in reasons:
        output.note(f"Failed: {reason}", "red")
    if reasons:
        raise typer.Exit(FAILED)


@app.command("memory")
@connected(patient=True)
async def evaluate_memory(
    client: AttractorClient,
    output: Output,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A JSON file of conversations.")],
) -> None:
    """Import conversations, ask about them, and measure which messages are recalled.

    The file is a list of conversations in LoCoMo's format: sessions, turns, and questions that name the turns that
    answer them. Each is imported into a workspace of its own, which is deleted at the end; this requires an
    administrator's key. No chat model is called.

    \b
    Example:
      attractor eval memory conversations.json
    """
    figures = await measure_recall(client, read_conversations(file), output.note)
    means, counts = figures.mean_recall(), {name: len(values) for name, values in figures.recall.items()}
    slowest = sorted(figures.seconds)[int(0.95 * len(figures.seconds))] if figures.seconds else 0.0
    if output.as_json:
        imported = {"messages": figures.messages, "facts": figures.facts}
        output.json({**imported, "recall": means, "questions": counts, "seconds_p95": slowest})
        return
    rows = [(name, counts[name], f"{value:.3f}") for name, value in means.items()]
    output.table(("category", "questions", "recall@10"), rows)
    output.text(f"{figures.messages} messages, {figures.facts} facts; p95 {1000 * slowest:.0f} ms")


def _write(output: Output, file: Path, write: Callable[[Path], None]) -> None:
    try:
        write(file)
    except OSError as error:
        raise AttractorError(f"Cannot write {file}", error.strerror) from error
    output.note(f"written: {file}")


def _as_json(found: Evaluation, comparison: Comparison | None, reasons: list[str]) -> dict[str, object]:
    head = found.model_dump(mode="json", exclude={"questions"})
    summaries = {mode: found.summary(mode) for mode in found.modes}
    return {
        **head,
        "questions": len(found.questions),
        "summary": summaries,
        "comparison": comparison,
        "failed": reasons,
    }


def _modes(text: str) -> list[SearchMode]:
    try:
        modes = [SearchMode(one.strip()) for one in text.split(",") if one.strip()]
    except ValueError:
        raise typer.BadParameter(f"--modes takes a comma-separated list of {', '.join(SearchMode)}") from None
    if not modes or len(set(modes)) < len(modes):
        raise typer.BadParameter("--modes: each mode may be given once")
    return modes


def _metric(name: str | None, k: int) -> str:
    if name and name not in metric_names(k):
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(metric_names(k))}")
    return name or metric_names(k)[0]


def _floors(texts: list[str] | None, k: int, modes: Sequence[str]) -> list[Floor]:
    try:
        floors = [read_floor(one) for one in texts or []]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    for floor in floors:
        _metric(floor.metric, k)
        if floor.mode and floor.mode not in modes:
            raise typer.BadParameter(f"{floor.mode!r} is not one of {', '.join(modes)}")
    return floors
