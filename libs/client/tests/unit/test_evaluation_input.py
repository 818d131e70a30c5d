"""Reading data sets and question files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from attractor_client.evaluation.dataset import CorpusDocument, is_dataset, read_dataset
from attractor_client.evaluation.errors import BadDataset
from attractor_client.evaluation.questions import expectations, read_questions
from contracts.ingestion import Document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines(tmp_path / "corpus.jsonl", {"_id": "d1", "title": "T", "text": "One"}, {"id": 2, "text": "Two\u2028more"})
    lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "one?"}, {"_id": "q2", "text": "two?"})
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t2\t0\nq2\t2\t1\n")
    return tmp_path


def lines(file: Path, *rows: dict[str, Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


class TestDatasets:
    def test_a_dataset_may_use_both_kinds_of_ids(self, folder: Path) -> None:
        found = read_dataset(folder)
        assert [(one.id, one.title, one.text) for one in found.documents] == [
            ("d1", "T", "One"),
            ("2", "", "Two\u2028more"),
        ]
        assert [(one.id, one.text) for one in found.questions] == [("q1", "one?"), ("q2", "two?")]
        assert found.grades == {"q1": {"d1": 2}, "q2": {"2": 1}}
        assert is_dataset(folder)
        assert not is_dataset(folder.parent)

    def test_grades_may_be_split_lack_a_header_or_use_the_trec_format(self, folder: Path) -> None:
        (folder / "qrels").mkdir()
        (folder / "qrels" / "test.tsv").write_text("q1\td1\t1\n")
        (folder / "qrels" / "dev.tsv").write_text("q2 0 2 3\n")
        assert read_dataset(folder).grades == {"q1": {"d1": 1}}
        assert read_dataset(folder, "dev").grades == {"q2": {"2": 3}}
        assert read_dataset(folder).left_out == 1

    def test_questions_with_incomplete_evidence_are_skipped(self, folder: Path) -> None:
        lines(
            folder / "questions.jsonl",
            {"id": "q1", "question": "one?", "supporting_complete": False},
            {"id": "q2", "question": "two?", "supporting_complete": True},
        )
        found = read_dataset(folder)
        assert ([one.id for one in found.questions], found.left_out) == (["q2"], 1)

    @pytest.mark.parametrize(
        ("file", "text", "message"),
        [
            ("qrels.tsv", "q1\td1\t1\nq1\td1\tgood\n", "qrels.tsv:2: 'good' is not a grade"),
            ("qrels.tsv", "q1\td1\n", "expected question, document and grade"),
            ("qrels.tsv", "q9\td1\t1\n", "no questions with a grade"),
            ("corpus.jsonl", "{\n", "corpus.jsonl:1: not JSON"),
            ("corpus.jsonl", "[]\n", "not a JSON object"),
            ("corpus.jsonl", '{"text": "x"}\n', "neither _id nor id"),
            ("corpus.jsonl", '{"id": "d", "text": "x"}\n{"id": "d", "text": "y"}\n', "has a document twice: d"),
            ("queries.jsonl", '{"id": "q1"}\n', "queries.jsonl:1: no text"),
        ],
    )
    def test_unreadable_input_is_reported(self, folder: Path, file: str, text: str, message: str) -> None:
        (folder / file).write_text(text)
        with pytest.raises(BadDataset, match=message.replace("[", "\\[")):
            read_dataset(folder)

    def test_missing_files_are_reported(self, folder: Path) -> None:
        (folder / "queries.jsonl").unlink()
        with pytest.raises(BadDataset, match=r"queries\.jsonl cannot be read: No such file"):
            read_dataset(folder)
        (folder / "qrels.tsv").unlink()
        with pytest.raises(BadDataset, match=r"neither qrels\.tsv nor qrels/test\.tsv"):
            read_dataset(folder)


class TestFiles:
    def test_a_title_is_underlined_and_the_text_is_unchanged(self) -> None:
        name, data = CorpusDocument("a/b", "On *p53*", "x_y <b>\n\nmore").file()
        assert (name, data.decode()) == ("a_b.txt", "On *p53*\n========\n\nx_y <b>\n\nmore")

    def test_a_document_without_a_title_is_written(self) -> None:
        assert CorpusDocument("code-1", "", "def f():\n    pass").file() == ("code-1.txt", b"def f():\n    pass")

    def test_a_title_too_long_to_be_recognised_is_left_out(self) -> None:
        name, data = CorpusDocument("1", "A <long> " * 30, "One\n\nTwo & three").file()
        assert name == "1.html"
        assert "<h1>A &lt;long&gt; A" in data.decode()
        assert "<p>One</p>\n<p>Two &amp; three</p>" in data.decode()


class TestQuestions:
    def documents(self, samples: Any) -> list[Document]:
        found = [samples.document(1, name="a.md", source_path="docs/a.md"), samples.document(2, name="b.md")]
        return [Document.model_validate(one) for one in [*found, samples.document(3, name="b.md")]]

    def test_yaml_questions_have_documents_grades_and_passages(self, tmp_path: Path, samples: Any) -> None:
        file = tmp_path / "own.yaml"
        file.write_text(
            "questions:\n"
            "- question: Where?\n  documents: [docs/a.md]\n"
            "- question: Which?\n  id: w\n  documents: [a.md, {document: b.md, grade: 3}]\n"
            "- question: How?\n  documents: [b.md]\n  passages: [by hand, by  Machine]\n"
            "- question: When?\n  passages: [in March]\n"
        )
        where, which, how, when = expectations(read_questions(file), self.documents(samples))
        assert where.question.id == "Where?"
        assert [(one.label, one.documents) for one in where.targets] == [("docs/a.md", {UUID(int=1)})]
        assert which.question.id == "w"
        assert [(one.grade, one.documents) for one in which.targets] == [
            (1, {UUID(int=1)}),
            (3, {UUID(int=2), UUID(int=3)}),
        ]
        assert [(one.passage, one.documents) for one in how.targets] == [
            ("by hand", {UUID(int=2), UUID(int=3)}),
            ("by  Machine", {UUID(int=2), UUID(int=3)}),
        ]
        assert (when.by_passage, when.targets[0].documents) == (True, None)

    def test_questions_are_read_from_json_lines(self, tmp_path: Path) -> None:
        file = tmp_path / "own.jsonl"
        lines(file, {"question": "Where?", "documents": ["a.md"]}, {"question": "When?", "passages": ["now"]})
        assert [one.question for one in read_questions(file)] == ["Where?", "When?"]

    def test_all_missing_documents_are_named(self, tmp_path: Path, samples: Any) -> None:
        file = tmp_path / "own.yaml"
        file.write_text("- {question: Where, documents: [z.md, a.md, y.md]}\n")
        with pytest.raises(BadDataset, match=r"not in the workspace: y\.md, z\.md"):
            expectations(read_questions(file), self.documents(samples))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("questions: {}", "no list of questions"),
            ("[", "cannot be read"),
            ("- question: Where?", "question 1: : Value error, name documents or passages"),
            ("- {question: Where, documents: [a], passage: x}", "question 1: passage: Extra inputs"),
            ("- {question: A, passages: [x]}\n- {question: A, passages: [y]}", "has a question twice: A"),
        ],
    )
    def test_unreadable_input_is_reported(self, tmp_path: Path, text: str, message: str) -> None:
        file = tmp_path / "own.yaml"
        file.write_text(text)
        with pytest.raises(BadDataset, match=message):
            read_questions(file)

    def test_a_missing_file_is_reported(self, tmp_path: Path) -> None:
        with pytest.raises(BadDataset, match="No such file"):
            read_questions(tmp_path / "none.yaml")
