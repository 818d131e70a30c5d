"""Judging hits, saved results, comparison, limits and the report."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from attractor_client.evaluation.comparison import compare
from attractor_client.evaluation.dataset import Question
from attractor_client.evaluation.errors import BadDataset
from attractor_client.evaluation.judging import JudgedQuestion, Target, judge
from attractor_client.evaluation.limits import Floor, below, read_floor, worse
from attractor_client.evaluation.metrics import measure
from attractor_client.evaluation.report import render, rows
from attractor_client.evaluation.results import Answer, Evaluation, Expected, QuestionResult, RankedHit, load
from contracts.retrieval import Hit

Q = Question("q", "What?")


class TestJudging:
    @pytest.fixture
    def hit(self, samples: Any) -> Any:
        def make(document: int, content: str = "text", **more: Any) -> Hit:
            return Hit.model_validate(samples.hit(document_id=str(UUID(int=document)), content=content, **more))

        return make

    def document(self, number: int, grade: int = 1) -> Target:
        return Target(f"d{number}", grade, frozenset([UUID(int=number)]))

    def test_a_document_counts_once_at_the_rank_of_its_best_passage(self, hit: Any) -> None:
        found = judge(
            [hit(9), hit(1), hit(9), hit(1), hit(2)], JudgedQuestion(Q, (self.document(1), self.document(2, 2))), 10
        )
        assert found.ranked == [0, 1, 2]
        assert [one.grade for one in found.hits] == [0, 1, 2]
        assert found.missing == []

    def test_results_beyond_k_count_as_missing(self, hit: Any) -> None:
        found = judge([hit(8), hit(9), hit(1)], JudgedQuestion(Q, (self.document(1),)), 2)
        assert (found.ranked, [one.label for one in found.missing]) == ([0, 0], ["d1"])

    def test_a_document_missing_from_the_workspace_is_never_found(self, hit: Any) -> None:
        absent = Target("d7", 1, frozenset())
        assert judge([hit(7)], JudgedQuestion(Q, (absent,)), 10).missing == [absent]

    def test_a_quote_must_be_in_the_text_of_the_hit(self, hit: Any) -> None:
        asked = JudgedQuestion(Q, (Target("by hand", 1, frozenset([UUID(int=1)]), "Made  BY\nhand"),))
        hits = [hit(2, "made by hand"), hit(1, "nothing"), hit(1, "nothing"), hit(1, "It is made by\n hand.")]
        assert judge(hits, asked, 10).ranked == [0, 0, 0, 1]

    def test_two_quotes_in_one_hit_take_two_ranks(self, hit: Any) -> None:
        asked = JudgedQuestion(Q, (Target("a", 1, None, "one"), Target("b", 1, None, "two")))
        found = judge([hit(1, "one and two"), hit(2, "one")], asked, 10)
        assert found.ranked == [1, 1, 0]
        assert measure(found.ranked, [1, 1], 10)["ndcg@10"] == 1

    def test_duplicates_folded_into_a_hit_are_found_with_it(self, hit: Any) -> None:
        folded = {"chunk_id": "c2", "document_id": str(UUID(int=1)), "document_name": "b"}
        found = judge([hit(9, duplicates=[folded])], JudgedQuestion(Q, (self.document(1),)), 10)
        assert (found.ranked, found.missing) == ([1], [])


def evaluation(**values: float) -> Evaluation:
    """Returns an evaluation in one mode, hybrid, with nDCG@10 by question."""
    questions = [
        QuestionResult(
            id=name,
            text=f"What of <{name}>?",
            expected=[Expected(label="d", grade=1)],
            answers={
                "hybrid": Answer(
                    metrics={"ndcg@10": value, "recall@10": value},
                    milliseconds=10 + number,
                    service_milliseconds=5,
                    hits=[RankedHit(document="<script>x</script>", place="A", score=0.5, grade=int(value > 0))],
                    missing=[] if value else ["d & e"],
                )
            },
        )
        for number, (name, value) in enumerate(values.items())
    ]
    return Evaluation(
        format="attractor-evaluation-1",
        dataset="set",
        at=datetime(2026, 3, 1, tzinfo=UTC),
        k=10,
        modes=["hybrid"],
        documents=3,
        questions=questions,
    )


class TestResults:
    def test_saved_results_can_be_loaded(self, tmp_path: Path) -> None:
        before = evaluation(a=1, b=0)
        before.save(tmp_path / "new" / "base.json")
        assert load(tmp_path / "new" / "base.json") == before

    @pytest.mark.parametrize("text", ["", "{}", '{"format": "other"}'])
    def test_an_unrelated_file_is_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "base.json").write_text(text)
        with pytest.raises(BadDataset, match="is not a saved evaluation result"):
            load(tmp_path / "base.json")

    def test_latency_excludes_cached_responses(self) -> None:
        found = evaluation(a=1, b=1, c=1)
        found.questions[2].answers["hybrid"].cached = True
        summary = found.summary("hybrid")
        assert (summary.latency.p50, summary.latency.p95, summary.latency.answers, summary.cached) == (10, 11, 2, 1)


class TestComparison:
    def test_a_comparison_lists_changes_and_the_questions_behind_them(self) -> None:
        found = compare(evaluation(a=1, b=0.5, c=0.2), evaluation(a=0.8, b=1, c=0.2, d=1), "ndcg@10")
        [change] = [one for one in found.changes if one.metric == "ndcg@10"]
        assert (change.before, change.after) == (pytest.approx(1.7 / 3), pytest.approx(2 / 3))
        assert (change.better, change.worse, change.p) == (1, 1, 1.0)
        assert [(one.id, round(one.delta, 3)) for one in found.changed] == [("b", 0.5), ("a", -0.2)]
        assert (found.questions, found.only_before, found.only_after) == (3, 0, 1)

    def test_results_without_common_questions_cannot_be_compared(self) -> None:
        with pytest.raises(ValueError, match="no common question"):
            compare(evaluation(a=1), evaluation(b=1), "ndcg@10")
        with pytest.raises(ValueError, match="mrr@10 is not a measure of both"):
            compare(evaluation(a=1), evaluation(a=1), "mrr@10")

    def test_limits_are_checked(self) -> None:
        assert read_floor("rrf:ndcg@10=.7") == Floor("rrf", "ndcg@10", 0.7)
        now = evaluation(a=0.5, b=0.5)
        assert below(now, [Floor(None, "ndcg@10", 0.5), Floor("hybrid", "recall@10", 0.6)]) == [
            "recall@10 of hybrid is 0.5000, below 0.6"
        ]
        comparison = compare(evaluation(a=0.6, b=0.5), now, "ndcg@10")
        assert worse(comparison, 0.05) == []
        assert worse(comparison, 0.01) == ["ndcg@10 of hybrid fell by 0.0500, more than 0.01"]
        for text in ("ndcg@10", "=1", "ndcg@10=high"):
            with pytest.raises(ValueError, match=r"form|number"):
                read_floor(text)


class Checked(HTMLParser):
    """Checks that elements are nested well, and load nothing from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


class TestReport:
    def test_the_report_is_self_contained_and_escapes_text(self) -> None:
        before, after = evaluation(a=1, b=0.5), evaluation(a=1, b=0)
        page = render(after, "ndcg@10", compare(before, after, "ndcg@10"), before)
        checked = Checked()
        checked.feed(page)
        assert checked.open == []
        assert "script" not in checked.seen
        for expected in (
            "What of &lt;b&gt;?",
            "&lt;script&gt;x&lt;/script&gt;",
            "d &amp; e",
            "-0.5000",
            "hybrid before",
        ):
            assert expected in page

    def test_changed_questions_come_first_then_the_worst(self) -> None:
        before, after = evaluation(a=1, b=0.5, c=0.3, d=0.1), evaluation(a=1, b=0.6, c=0.3, d=0.1)
        assert [row.question.id for row in rows(after, "ndcg@10", before)] == ["b", "d", "c", "a"]

    def test_a_report_needs_no_baseline(self) -> None:
        page = render(evaluation(a=1, b=0), "ndcg@10")
        assert "Compared with" not in page
        assert page.index("What of &lt;b&gt;") < page.index("What of &lt;a&gt;")
