"""The words of questions that can be calculated. Pure."""

from __future__ import annotations

import re

from contracts.graph_tools import Measure

DEPENDENCY_TYPES = ("DEPENDS_ON", "USES", "CALLS")
LONGEST_WORD = 50
KINDS = {
    "SERVICE": "service services microservice microservices",
    "PERSON": "person persons people",
    "ORG": "organisation organisations organization organizations company companies",
    "GPE": "place places city cities country countries",
    "DOCUMENT": "title titles",
    "IDENTIFIER": "identifier identifiers",
    "CONCEPT": "concept concepts",
    "PRODUCT": "product products",
    "EVENT": "event events",
}
TYPE_OF = {word: kind for kind, words in KINDS.items() for word in words.split()}
ANYTHING = frozenset(
    ["entity", "entities", "node", "nodes", "thing", "things", "name", "names", "component", "components", "items"]
)
VERBS = {
    "DEPENDS_ON": r"(?:are |is )?depend(?:s|ing|ent|ed)? on|rel(?:y|ies|ied) on|require[sd]?|need(?:s|ed)?",
    "USES": r"(?:are |is )?us(?:e|es|ed|ing)",
    "CALLS": r"(?:are |is )?call(?:s|ed|ing)?",
    "OWNS": r"own(?:s|ed)?",
    "MAINTAINS": r"maintain(?:s|ed)?",
    "PART_OF": r"(?:are |is )?part of|belong(?:s|ed)? to",
}
VERB_PATTERNS = {relation: re.compile(words, re.IGNORECASE) for relation, words in VERBS.items()}
VERB = "|".join(VERBS.values())
PASSIVE_VERB = "used|called|owned|maintained|required|needed"
RELATIONS = "relations?|relationships?|connections?|links?|edges?|neighbours?|neighbors?"
DOCUMENTS = "documents?|files?"
MEASURES = {
    r"mentions?|mentioned|frequent|frequency|often|common|popular": Measure.mentions,
    r"degree|connected|linked|related|" + RELATIONS: Measure.degree,
    r"documents?|widespread": Measure.documents,
    r"central|centrality|important|importance|influential": Measure.centrality,
}
MEASURE_PATTERNS = [(re.compile(words, re.IGNORECASE), one) for words, one in MEASURES.items()]
MEASURE = "|".join(MEASURES)
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
POSSIBLE = [
    "How many entities are there?",
    "How many services are there?",
    "How many relations are there?",
    "How many DEPENDS_ON relations are there?",
    "How many documents are there?",
    "Entities by type",
    "Relations by type",
    "Average mentions per entity",
    "Average relations per entity",
    "Top 10 services by mentions",
    "The most connected entities",
    "How often is AuthService mentioned?",
    "How many relations does AuthService have?",
    "How many services depend on AuthService?",
    "How many services depend on AuthService indirectly?",
    "How many services does AuthService use?",
    "Summary",
]


def relation_types(verb: str) -> list[str] | None:
    """Returns the relation types that a verb asks for; depending on something includes using or calling it."""
    for relation, words in VERB_PATTERNS.items():
        if words.fullmatch(verb):
            return list(DEPENDENCY_TYPES) if relation == "DEPENDS_ON" else [relation]
    return None


def kind(noun: str) -> tuple[str | None, bool]:
    """Returns (type, whether the noun can be one): None means any type; an unknown noun is taken for a type."""
    words = [word for word in re.findall(r"\w+", noun.casefold()) if word not in ("the", "other", "different")]
    if not words or (len(words) == 1 and words[0] in ANYTHING):
        return None, True
    if len(words) == 2 and words[1] in ANYTHING:
        words = words[:1]  # "SERVICE entities"
    if len(words) != 1 or len(words[0]) > LONGEST_WORD:
        return None, False
    return TYPE_OF.get(words[0]) or singular(words[0]).upper(), True


def singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def name(text: str) -> str:
    """Returns the name in a question, without quotation marks."""
    return text.strip(" \t\"'`“”‘’«»?!.,")[:200].strip()


def measure(word: str) -> Measure | None:
    return next((one for words, one in MEASURE_PATTERNS if words.fullmatch(word)), None)
