"""Which questions are structural, and what they ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_graph.tools.structure.grammar import Grammar
from knowledge_graph.tools.structure.question import ARTICLES, KINDS, read_questions


@pytest.mark.parametrize(
    ("question", "kind", "names", "types", "transitive"),
    [
        ("Which services and projects depend directly on Gate?", "dependents", "Gate", "SERVICE PROJECT", False),
        ("Tell me which teams use the Gate today", "dependents", "Gate", "TEAM ORG", False),
        ("How many services depend on Gate indirectly?", "dependents", "Gate", "SERVICE", True),
        ("What reads or writes the Seat Ledger?", "dependents", "Seat Ledger", "", False),
        ("What does “Fare Engine” depend on?", "dependencies", "Fare Engine", "", False),
        ("Which data stores does Petrel need, directly or over others?", "dependencies", "Petrel", "STORE", True),
        ("What breaks if the gate is down?", "impact", "gate", "", True),
        ("Which services does a UserDB outage affect?", "impact", "UserDB", "SERVICE", True),
        ("Which services are affected by an outage of UserDB?", "impact", "UserDB", "SERVICE", True),
        ("Who owns Gate?", "owner", "Gate", "", False),
        ("Which team runs Quay Portal?", "owner", "Quay Portal", "", False),
        ("who is responsible for gate", "owner", "gate", "", False),
        ("Who is on call for Gate?", "oncall", "Gate", "", False),
        ("How many services does the Falk team own?", "owned", "Falk team", "SERVICE", False),
        ("Who decided ADR-011?", "decided", "ADR-011", "", False),
        ("Von wem wurde ADR-011 beschlossen?", "decided", "ADR-011", "", False),
        ("Who is in the Falk team?", "parts", "Falk team", "", False),
        ("Which team owns Gate and who is in it?", "members", "Gate", "", False),
        ("What type of thing is Foghorn?", "kind", "Foghorn", "", False),
        ("Was für ein System ist Foghorn?", "kind", "Foghorn", "SERVICE", False),
        ("Is there a path from Gate to UserDB?", "path", "Gate/UserDB", "", False),
        ("How does Gate depend on UserDB?", "reach", "Gate/UserDB", "", False),
        ("Is Gate part of a circular dependency, and of which?", "cycle", "Gate", "", False),
        ("Welche Dienste hängen direkt von Gate ab?", "dependents", "Gate", "SERVICE", False),
        ("Wie viele Dienste nutzen den Gate?", "dependents", "Gate", "SERVICE", False),
        ("Welche Dienste nutzt der Roster Hub?", "dependencies", "Roster Hub", "SERVICE", False),
        ("Wovon hängt die Fare Engine ab?", "dependencies", "Fare Engine", "", False),
        ("Was fällt aus, wenn LampDB ausfällt?", "impact", "LampDB", "", True),
        ("Wem gehört Gate?", "owner", "Gate", "", False),
        ("Welches Team ist für das Gate zuständig?", "owner", "Gate", "", False),
        ("Gibt es einen Weg von Gate zu UserDB?", "path", "Gate/UserDB", "", False),
        ("Hängt Gate von UserDB ab?", "reach", "Gate/UserDB", "", False),
        ("Is anything still using Gate?", "dependents", "Gate", "", False),
        ("Which projects build on the Gate right now?", "dependents", "Gate", "PROJECT", False),
        ("Which libraries are used by Gate?", "dependencies", "Gate", "LIBRARY", False),
        ("In which database does Gate keep its data?", "dependencies", "Gate", "STORE", False),
        ("Where does Gate store its data?", "dependencies", "Gate", "STORE", False),
        ("If UserDB goes offline, which systems are affected?", "impact", "UserDB", "SERVICE", True),
        ("What would an outage of UserDB take down?", "impact", "UserDB", "", True),
        ("Why would an outage of UserDB affect Gate?", "reach", "Gate/UserDB", "", False),
        ("Whose system is the Gate?", "owner", "Gate", "SERVICE", False),
        ("What squad looks after Gate at the moment?", "owner", "Gate", "", False),
        ("How many tables reference booking_line?", "references", "booking_line", "TABLE", False),
        ("What is part of Gate?", "parts", "Gate", "", False),
        ("Worauf greift der Roster Hub zu?", "dependencies", "Roster Hub", "", False),
        ("Wenn LampDB ausfällt, welche Dienste sind betroffen?", "impact", "LampDB", "SERVICE", True),
        ("Wer kümmert sich um Gate?", "owner", "Gate", "", False),
    ],
)
def test_questions_are_parsed_as_intended(question, kind, names, types, transitive):
    found = next(read_questions(question))
    assert found.asked == kind
    assert [spellings[0] for spellings in found.names] == names.split("/")
    assert (list(found.types), found.transitive) == (types.split(), transitive)


@pytest.mark.parametrize(
    "question",
    [
        "How long are tokens valid?",
        "Which services depend on it?",
        "And who owns them?",
        "Who painted Gate before?",
        "What is Gate called in the old papers?",
        "Where does Gate stand?",
        "Which bananas depend on Gate?",
        "Who decided to drop the nightly export, and why?",
        "Wer hat das beschlossen?",
        "how many services depend on",
        "",
        "💥",
    ],
)
def test_other_questions_are_not_handled(question):
    assert list(read_questions(question)) == []


WORDS = sorted({*ARTICLES, *KINDS, "which", "what", "if", "is", "down", "depend", "on", "Gate"})


@given(st.lists(st.sampled_from(WORDS)))
def test_words_in_any_order_are_parsed_or_ignored(words):
    for found in read_questions(" ".join(words)):
        assert found.asked
        assert all(found.names)


def test_an_unclosed_bracket_is_an_error():
    with pytest.raises(ValueError, match="bracket"):
        Grammar.read("a.en = who (owns | runs NAME")
