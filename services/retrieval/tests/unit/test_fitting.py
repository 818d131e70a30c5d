"""Weights from judged questions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from retrieval.ranking.fusion import FEATURES, Weights
from retrieval.ranking.weights import BUNDLED, UNKNOWN, SpaceWeights
from retrieval.tuning.fitting import TUNED, Judged, cross_validated, dcg, fit
from retrieval.tuning.judged import JudgementsInvalid, Passage, Question, read_questions


def judged(dice: np.random.Generator, truth: SpaceWeights, noise: float = 0.0) -> Judged:
    """A question whose answer is what the true weights put first."""
    features = np.zeros((40, len(FEATURES)))
    features[:, :5] = dice.random((40, 5)) * [0.5, 0.5, 0.5, 1, 0]
    weights = np.array([getattr(truth.weights, name) for name in FEATURES])
    grades = np.zeros(40, np.int64)
    grades[np.argmax(features @ weights + noise * dice.normal(size=40))] = 1
    return Judged(features, features[:, 0] * 2, np.arange(40), grades, 1.0)


def test_weights_are_found_that_rank_what_was_judged_first():
    dice = np.random.default_rng(1)
    truth = SpaceWeights(replace(BUNDLED.weights, bm25_share=1.2, title_named=0.0))
    questions = [judged(dice, truth) for _ in range(100)]
    fitted = cross_validated(questions, BUNDLED)
    assert fitted.better
    assert fitted.after.mean() > fitted.before.mean() + 0.1
    assert fitted.space.weights.bm25_share > 2 * fitted.space.weights.title_named
    assert fitted.space.weights.cosine == 1.0


def test_what_is_best_already_stays():
    dice = np.random.default_rng(2)
    fitted = cross_validated([judged(dice, BUNDLED) for _ in range(40)], BUNDLED)
    assert fitted.space == BUNDLED
    assert not fitted.better


def test_noise_is_not_taken_for_a_gain():
    dice = np.random.default_rng(3)
    assert not cross_validated([judged(dice, BUNDLED, noise=5.0) for _ in range(40)], BUNDLED).better


def test_of_a_model_that_is_not_known_the_cosine_may_enter_as_it_is():
    dice = np.random.default_rng(4)
    weights = Weights(cosine=2.0, bm25_share=0.1, soft_match=0.1)
    questions = [replace(judged(dice, SpaceWeights(weights)), scaled=np.zeros(40)) for _ in range(60)]
    assert not fit(questions, UNKNOWN).scaled
    assert not fit(questions, BUNDLED).scaled


def test_a_document_counts_once_at_its_best_passage():
    features = np.zeros((3, len(FEATURES)))
    features[:, 0] = [0.9, 0.8, 0.7]
    one = Judged(features, features[:, 0], np.array([7, 7, 8]), np.array([0, 0, 1]), 1.0)
    assert one.ndcg(BUNDLED) == pytest.approx(1 / np.log2(3))
    assert dcg(np.array([2, 1])) == pytest.approx(3 + 1 / np.log2(3))


def test_only_what_is_tuned_moves():
    dice = np.random.default_rng(5)
    found = fit([judged(dice, UNKNOWN, noise=0.1) for _ in range(30)], BUNDLED).weights
    assert {name for name in FEATURES if getattr(found, name) != getattr(BUNDLED.weights, name)} <= set(TUNED)


def test_questions_are_read_with_what_answers_them(tmp_path):
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "1", "text": "who?"}\n{"id": "2", "question": "what?"}\n\n{"id": "3", "text": "nobody knows"}\n',
        "utf-8",
    )
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta.md\t2\n1\tb\t0\n2\tc\t1\n", "utf-8")
    who, what = read_questions(tmp_path)
    assert (who.text, what.text) == ("who?", "what?")
    assert who.grade(passage("a.md")) == 2
    assert who.grade(passage("b")) == 0
    assert what.grade(passage("c.txt")) == what.grade(passage("n", chunk_id="c")) == 1
    assert Question("", {str(UUID(int=1)): 3}).grade(passage("n")) == 3
    assert who.judge([passage("b", 2), passage("a.md"), passage("b", 2)]) == ([0, 1, 0], [0, 2, 0])


OWN = """
questions:
- question: Where?
  documents: [docs/a.md, {document: "https://b.example", grade: 3}]
- question: How?
  passages: [by hand, by  MACHINE]
- question: When?
  documents: [a.md]
  passages: [in March]
"""


def test_a_teams_own_questions_are_read_as_the_evaluation_reads_them(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(OWN, "utf-8")
    where, how, when = read_questions(file)
    found = [passage("x.md", 1), passage("a.md", 2, path="docs/a.md"), passage("b", 3, uri="https://b.example")]
    assert where.judge(found) == ([0, 1, 2], [0, 1, 3])
    assert where.ideal == [3, 1]
    texts = ["Made by\nMachine.", "nothing", "Made BY hand", "by machine, again", "by hand and by machine"]
    assert how.judge([passage("x", text=text) for text in texts]) == ([1, 3, 0, 1, 0], [1, 0, 1, 1, 1])
    assert how.ideal == [1, 1]
    said = [passage("b.md", 1, text="in March"), passage("a.md", 2, text="In March.")]
    assert when.judge(said) == ([1, 0], [0, 1])
    (tmp_path / "own.jsonl").write_text('{"question": "Where?", "documents": ["a.md"]}\n', "utf-8")
    assert read_questions(tmp_path / "own.jsonl") == [Question("Where?", {"a.md": 1})]


def test_the_projects_example_questions_are_read():
    file = Path(__file__).parents[4] / "infra/evaluation/example-questions.yaml"
    questions = read_questions(file)
    assert all(question.ideal for question in questions)
    assert any(question.quotes for question in questions)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("questions: {}", "no list of questions"),
        ("[", "cannot be read"),
        ("- question: Where?", "question 1: : Value error, name documents or passages"),
        (None, "No such file"),
    ],
)
def test_what_cannot_be_read_of_a_file_is_named(tmp_path, text, complaint):
    file = tmp_path / "own.yaml"
    if text is not None:
        file.write_text(text, "utf-8")
    with pytest.raises(JudgementsInvalid, match=complaint):
        read_questions(file)


def passage(name: str, document: int = 1, chunk_id: str = "", path: str = "", uri: str = "", text: str = "") -> Passage:
    return Passage(1, name, UUID(int=document), chunk_id, path or None, uri or None, text)


@pytest.mark.parametrize(
    ("queries", "qrels", "complaint"),
    [
        ("{", "1\t2\t1\n", "line 1"),
        ('{"id": "1"}', "1\t2\t1\n", "line 1"),
        ("", "h\n1 2 3\n", "line 2"),
        (None, "", "no "),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, queries, qrels, complaint):
    if queries is not None:
        (tmp_path / "queries.jsonl").write_text(queries, "utf-8")
    (tmp_path / "qrels.tsv").write_text(qrels, "utf-8")
    with pytest.raises(JudgementsInvalid, match=complaint):
        read_questions(tmp_path)
