"""Questions that can be calculated, and those that cannot."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.graph_tools import Aggregation, Measure
from knowledge_graph.tools.question_words import DEPENDENCY_TYPES, POSSIBLE
from knowledge_graph.tools.questions import parsed

DEPENDS = list(DEPENDENCY_TYPES)


def parsed_fields(question: str) -> dict[str, object]:
    found = parsed(question)
    assert found is not None, question
    shown = found.model_dump(exclude_defaults=True, mode="json")
    if shown["aggregation"] == "count_related":
        del shown["n"]
    return shown


@pytest.mark.parametrize("question", POSSIBLE)
def test_every_suggested_question_is_understood(question):
    assert parsed(question) is not None
    assert parsed(f"please tell me {question.lower()}!") is not None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many entities are there?", {"aggregation": "count_entities"}),
        ("number of people", {"aggregation": "count_entities", "entity_type": "PERSON"}),
        ("count the services in the graph", {"aggregation": "count_entities", "entity_type": "SERVICE"}),
        ("How many documents are there?", {"aggregation": "count_documents"}),
        ("how many USES relations are there", {"aggregation": "count_relations", "relation_types": ["USES"]}),
        ("How many entities of each type are there?", {"aggregation": "entities_by_type"}),
        ("What is the average number of mentions per entity?", {"aggregation": "average_mentions"}),
        ("average degree", {"aggregation": "average_degree"}),
        ("Top 5 people by mentions", {"aggregation": "top_entities", "entity_type": "PERSON", "n": 5}),
        (
            "the three most connected services",
            {"aggregation": "top_entities", "entity_type": "SERVICE", "n": 3, "by": "degree"},
        ),
        ("Which service is mentioned most often?", {"aggregation": "top_entities", "entity_type": "SERVICE", "n": 1}),
        ("most important entities", {"aggregation": "top_entities", "by": "centrality"}),
        ("top services in documents", {"aggregation": "top_entities", "entity_type": "SERVICE", "by": "documents"}),
        ("How often is “Auth Service” mentioned?", {"aggregation": "mentions", "entity": "Auth Service"}),
        ("how many documents mention UserDB", {"aggregation": "mentions", "entity": "UserDB"}),
        ("How many entities are related to UserDB?", {"aggregation": "degree", "entity": "UserDB"}),
        (
            "How many services depend on AuthService?",
            {
                "aggregation": "count_related",
                "entity": "AuthService",
                "entity_type": "SERVICE",
                "relation_types": DEPENDS,
            },
        ),
        (
            "Which projects depend on AuthService?",
            {
                "aggregation": "count_related",
                "entity": "AuthService",
                "entity_type": "PROJECT",
                "relation_types": DEPENDS,
            },
        ),
        (
            "how many things transitively rely on the UserDB",
            {"aggregation": "count_related", "entity": "the UserDB", "relation_types": DEPENDS, "transitive": True},
        ),
        (
            "How many services does Checkout use?",
            {
                "aggregation": "count_related",
                "entity": "Checkout",
                "entity_type": "SERVICE",
                "relation_types": ["USES"],
                "direction": "out",
            },
        ),
        (
            "What components are owned by Team Red?",
            {"aggregation": "count_related", "entity": "Team Red", "relation_types": ["OWNS"], "direction": "out"},
        ),
        (
            "how many indirect dependents does UserDB have",
            {"aggregation": "count_related", "entity": "UserDB", "relation_types": DEPENDS, "transitive": True},
        ),
        (
            "how many components are part of Billing Platform",
            {"aggregation": "count_related", "entity": "Billing Platform", "relation_types": ["PART_OF"]},
        ),
    ],
)
def test_questions_are_parsed_as_intended(question, expected):
    assert parsed_fields(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "MATCH (n) DETACH DELETE n",
        "SELECT count(*) FROM entity; DROP TABLE entity",
        "What is the weather?",
        "How many roads must a man walk down before you call him a man and then some more words?",
        "average",
        "top",
        "💥",
        "من يعتمد على الخدمة؟",
        "how many services depend on",
        "ß" * 500,
        "how many " + "ß" * 60 + " are there",
    ],
)
def test_a_question_that_is_not_understood_is_not_answered(question):
    assert parsed(question) is None


def test_numbers_stay_in_bounds():
    for question, n in (("top 0 services", 1), ("top 9999 services", 100), ("top ten services", 10)):
        found = parsed(question)
        assert found is not None
        assert (found.aggregation, found.n, found.by) == (Aggregation.top_entities, n, Measure.mentions)


@given(st.text(max_size=500))
def test_any_text_is_parsed_without_an_error(text):
    parsed(text)


@pytest.mark.parametrize("part", ["how many a ", "are ", "how many x are is used by ", "does do ", "mentioned "])
def test_every_question_is_parsed_in_bounded_time(part):
    started = time.process_time()
    parsed(("how many " + part * 300)[:500])
    assert time.process_time() - started < 5
