"""Parses short English questions into the closed set of calculations; other questions are not answered. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from contracts.graph_tools import Aggregation, RunCalculation
from knowledge_graph.tools.question_words import (
    DEPENDENCY_TYPES,
    DOCUMENTS,
    MEASURE,
    NUMBERS,
    PASSIVE_VERB,
    RELATIONS,
    TYPE_OF,
    VERB,
    kind,
    measure,
    name,
    relation_types,
)

Groups = dict[str, str]
Found = dict[str, Any] | None
Rule = tuple[str, Callable[[Groups], Found]]
OPENING = re.compile(
    r"^(?:(?:please|can you|could you|tell me|show me|show|give me|list|calculate|compute|find|what is|what are|what's|"
    r"and|so|then|the|a)\s++)+",
    re.IGNORECASE,
)
HOW = r"(?P<how>directly|indirectly|transitively|in total|altogether)"
COUNT = r"(?:how many|number of|count(?: of)?(?: the| all)?)"
WHICH = rf"(?:{COUNT}|which|what)"
PER_ENTITY = r"(?: (?:per|of(?: an| the)?) (?:entity|entities|node))?"
N = r"(?P<n>\d{1,4}|" + "|".join(NUMBERS) + ")"
MOST_ROWS = 100
DEPENDENCIES = r"(?:(?P<how>transitive|indirect|direct) )?(?P<what>dependenc(?:y|ies)|dependents?)"


def parsed(question: str) -> RunCalculation | None:
    """Parses the question into a calculation; returns None if it is no variant of `question_words.POSSIBLE`."""
    plain = OPENING.sub("", " ".join(question.split()).rstrip(" ?!."))
    for pattern, read in RULES:
        if match := pattern.fullmatch(plain):
            # Groups with alternatives are numbered; only one of them matches.
            groups = {key.rstrip("0123456789"): value for key, value in match.groupdict().items() if value}
            if (found := read(groups)) is not None:
                return _checked(found)
    return None


def _checked(found: dict[str, Any]) -> RunCalculation | None:
    """Returns None if a name or type in the question is too long to be one."""
    try:
        return RunCalculation(**found)
    except ValidationError:
        return None


def _of(aggregation: Aggregation) -> Callable[[Groups], Found]:
    return lambda _: {"aggregation": aggregation}


def _of_entity(aggregation: Aggregation) -> Callable[[Groups], Found]:
    def read(groups: Groups) -> Found:
        entity = name(groups["entity"])
        return {"aggregation": aggregation, "entity": entity} if entity else None

    return read


def _related(direction: str) -> Callable[[Groups], Found]:
    def read(groups: Groups) -> Found:
        entity_type, is_kind = kind(groups["kind"])
        entity, types = name(groups["entity"]), relation_types(groups["verb"])
        if not (is_kind and entity and types):
            return None
        how = (groups.get("how") or groups.get("early") or "directly").strip().casefold()
        return _count_related(entity, types, direction, how != "directly") | {"entity_type": entity_type}

    return read


def _count_related(entity: str, types: list[str], direction: str, transitive: bool) -> dict[str, Any]:
    return {
        "aggregation": Aggregation.count_related,
        "entity": entity,
        "relation_types": types,
        "direction": direction,
        "transitive": transitive,
        "n": MOST_ROWS,
    }


def _had(groups: Groups) -> Found:
    """Parses "How many … does X have?"."""
    what, entity = groups["kind"].casefold(), name(groups["entity"])
    if not entity:
        return None
    if re.fullmatch(RELATIONS, what):
        return {"aggregation": Aggregation.degree, "entity": entity}
    if re.fullmatch("mentions?", what):
        return {"aggregation": Aggregation.mentions, "entity": entity}
    if match := re.fullmatch(
        r"(?:(?P<how>transitive|indirect|direct) )?(?P<what>dependenc(?:y|ies)|dependents?)", what
    ):
        direction = "out" if match["what"].startswith("dependenc") else "in"
        return _count_related(entity, list(DEPENDENCY_TYPES), direction, match["how"] in ("transitive", "indirect"))
    return None


def _total(groups: Groups) -> Found:
    what = groups["kind"].casefold()
    if re.fullmatch(DOCUMENTS, what):
        return {"aggregation": Aggregation.count_documents}
    if relations := re.fullmatch(rf"(?:(?P<type>\w{{1,80}}) )?(?:{RELATIONS})", what):
        types = [relations["type"]] if relations["type"] else None
        return {"aggregation": Aggregation.count_relations, "relation_types": types}
    entity_type, is_kind = kind(what)
    return {"aggregation": Aggregation.count_entities, "entity_type": entity_type} if is_kind else None


def _top(groups: Groups) -> Found:
    noun = groups["kind"].casefold()
    entity_type, is_kind = kind(noun)
    by = measure(groups.get("by", "mentions"))
    if not is_kind or by is None:
        return None
    number = groups.get("n", "").casefold()
    n = NUMBERS.get(number) or (int(number) if number else 10)
    if not number and (noun == "entity" or (noun in TYPE_OF and not noun.endswith("s") and noun != "people")):
        n = 1
    return {
        "aggregation": Aggregation.top_entities,
        "entity_type": entity_type,
        "by": by,
        "n": max(1, min(n, MOST_ROWS)),
    }


WRITTEN: tuple[Rule, ...] = (
    (
        r"(?:summary|statistics|overview|size)(?: of (?:the )?(?:knowledge )?graph)?|how (?:big|large) is the graph",
        _of(Aggregation.summary),
    ),
    (
        rf"(?:{COUNT} )?(?:the )?(?:entit(?:y|ies)|nodes)(?: counts?)? (?:by|per|of each) type(?: are there)?|"
        rf"(?:{COUNT} )?(?:types of entit(?:y|ies)|entity types)(?: are there)?",
        _of(Aggregation.entities_by_type),
    ),
    (
        rf"(?:{COUNT} )?(?:the )?(?:{RELATIONS})(?: counts?)? (?:by|per|of each) type(?: are there)?|"
        rf"(?:{COUNT} )?(?:types of (?:{RELATIONS})|relation types)(?: are there)?",
        _of(Aggregation.relations_by_type),
    ),
    (
        rf"(?:average|mean)(?: number of)? mentions{PER_ENTITY}|"
        r"how (?:often is|many mentions does) an entity (?:mentioned|have) on average",
        _of(Aggregation.average_mentions),
    ),
    (
        rf"(?:average|mean)(?: number of)? (?:degree|{RELATIONS}){PER_ENTITY}|"
        rf"how many (?:{RELATIONS}) does an entity have on average",
        _of(Aggregation.average_degree),
    ),
    (
        rf"(?:in )?how many (?:{DOCUMENTS}) (?:is|are) (?P<entity>.+?) (?:mentioned|named)(?: in)?|"
        rf"{COUNT} (?:{DOCUMENTS}) (?:that )?(?:mention|name|contain) (?P<entity2>.+)|"
        r"how (?:often|many times|frequently) (?:is|are|was) (?P<entity3>.+?) (?:mentioned|named)|"
        r"(?:number of )?mentions of (?P<entity4>.+)",
        _of_entity(Aggregation.mentions),
    ),
    (
        r"degree of (?P<entity>.+)|how (?:well )?connected is (?P<entity2>.+)|"
        rf"{COUNT} (?:entities|nodes|things|{RELATIONS}) (?:is|are) (?P<entity3>.+?) (?:related|connected|linked) "
        rf"(?:to|with)|{COUNT} (?:entities|nodes|things) (?:is|are) (?:related|connected|linked) (?:to|with) "
        r"(?P<entity4>.+)",
        _of_entity(Aggregation.degree),
    ),
    (rf"{COUNT} (?P<kind>.+?) (?:does|do|did|has) (?P<entity>.+?)(?: have)?", _had),
    (rf"{WHICH} (?P<kind>.+?) (?:are|is) (?P<verb>{PASSIVE_VERB}) by (?P<entity>.+?)(?: {HOW})?", _related("out")),
    (rf"{WHICH} (?P<kind>.+?) (?:does|do|did) (?P<entity>.+?) (?P<verb>{VERB})(?: {HOW})?", _related("out")),
    (
        rf"{WHICH} (?P<kind>.+?) (?:that )?(?P<early>(?:directly|indirectly|transitively) )?(?P<verb>{VERB}) "
        rf"(?P<entity>.+?)(?: {HOW})?",
        _related("in"),
    ),
    (
        rf"(?:top )?(?:{N} )?most (?:often |frequently )?(?P<by>{MEASURE}) (?P<kind>\w+)(?: (?:in|of) the graph)?|"
        rf"(?:which|what) (?P<kind3>\w+) (?:is|are|has|have)(?: the)? most (?:often )?(?P<by3>{MEASURE})(?: often)?|"
        rf"(?:which|what) (?P<kind4>\w+) (?:is|are) (?P<by4>{MEASURE}) (?:the )?most(?: often)?",
        _top,
    ),
    (
        rf"top(?: {N})? (?P<kind>\w+(?: entities)?)(?: (?:by|in)(?: their| the)?(?: number of)? (?P<by>{MEASURE}))?",
        _top,
    ),
    (
        rf"{COUNT} (?P<kind>.+?)(?: (?:are there|exist|are known|do we have|are (?:there )?in the (?:knowledge )?graph|"
        r"does the (?:knowledge )?graph (?:have|hold|contain|know)))?(?: in the (?:knowledge )?graph| in total|"
        r" altogether)?",
        _total,
    ),
)
RULES = [(re.compile(pattern, re.IGNORECASE), read) for pattern, read in WRITTEN]
