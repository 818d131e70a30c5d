"""Sentences that say the same of several things, or one thing of each; and names that mean one project or service."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import SourceChunk, SourceDocument
from knowledge_graph.extraction.relation_types import is_dependency

ORDER, INVOICE, MAIL = "OrderService", "InvoiceService", "MailService"


@pytest.fixture(scope="module")
def read():
    return load_reader()


@pytest.fixture
def pairs(read):
    """Returns pairs("A uses B."): who is said to depend on whom, by name key."""

    def found(text: str) -> set[tuple[str, str]]:
        graph = extract(SourceDocument("n.md", None, False, (SourceChunk("c", text),), "en"), read)
        keys = {one.entity_id: one.name_key for one in graph.mentions}
        return {
            (keys[one.source_id], keys[one.target_id])
            for one in graph.relations
            if is_dependency(one.relation_type) and one.status == "current"
        }

    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ORDER} uses AuthService, as do {INVOICE} and {MAIL}.", f"{ORDER} {INVOICE} {MAIL} > AuthService"),
        (f"{ORDER} depends on UserDB, as {INVOICE} does.", f"{ORDER} {INVOICE} > UserDB"),
        (f"{ORDER} depends on UserDB, like {INVOICE}.", f"{ORDER} {INVOICE} > UserDB"),
        (f"Like {INVOICE}, {ORDER} depends on UserDB.", f"{ORDER} {INVOICE} > UserDB"),
        (f"Unlike {INVOICE}, {ORDER} depends on UserDB.", f"{ORDER} > UserDB"),
        (f"Both {ORDER} and {INVOICE} depend on UserDB.", f"{ORDER} {INVOICE} > UserDB"),
        (f"{ORDER} depends on both UserDB and LogStore.", f"{ORDER} > UserDB LogStore"),
        (f"{ORDER} does not depend on UserDB, as {INVOICE} does.", "> "),
        (f"{ORDER} uses UserDB as {INVOICE} is slow.", f"{ORDER} > UserDB"),
    ],
)
def test_a_subject_doing_likewise_gets_the_relation_too(pairs, text, expected):
    left, _, right = expected.lower().partition(">")
    assert pairs(text) == {(one, other) for one in left.split() for other in right.split()}


@pytest.mark.parametrize("verb", ["use", "depend on", "call"])
def test_respectively_pairs_items_one_to_one(pairs, verb):
    text = f"{ORDER} and {INVOICE} {verb} UserDB and LogStore, respectively."
    assert pairs(text) == {("orderservice", "userdb"), ("invoiceservice", "logstore")}


def test_a_project_name_is_the_same_with_and_without_the_word_project(pairs):
    assert pairs("Project Kestrel uses UserDB.") == pairs("Kestrel uses UserDB.") == {("kestrel", "userdb")}


def test_a_multiword_service_name_may_omit_its_last_word(read):
    text = "The Berth Allocation Service plans. The Auth Service signs."
    found = extract(SourceDocument("n.md", None, False, (SourceChunk("c", text),), "en"), read)
    assert {(one.alias_key, one.target_key) for one in found.aliases} == {("berthallocation", "berthallocationservice")}
