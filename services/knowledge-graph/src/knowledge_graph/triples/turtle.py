"""Parses triples from RDF Turtle (W3C recommendation of 25 February 2014). Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote

from rdflib import RDF, RDFS, SKOS, XSD, BNode, Graph, Literal, Namespace, Node, URIRef
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.notation3 import BadSyntax

from knowledge_graph.triples.records import (
    LONGEST_PREDICATE,
    LONGEST_TYPE,
    MOST_TRIPLES,
    ReadTriples,
    Triple,
    TriplesNotValid,
    Typed,
    checked_name,
    refuse,
    upper_snake,
)

SCHEMA, SCHEMAS, FOAF = (
    Namespace("https://schema.org/"),
    Namespace("http://schema.org/"),
    Namespace("http://xmlns.com/foaf/0.1/"),
)
LABELS = (SKOS.prefLabel, RDFS.label, SCHEMA.name, SCHEMAS.name, FOAF.name)
DESCRIBES = frozenset({*LABELS, RDF.type, RDFS.comment, SKOS.note, SKOS.definition})
CLASSES = frozenset({"CLASS", "NAMED_INDIVIDUAL", "RESOURCE", "ONTOLOGY", "CONCEPT_SCHEME", "THING"})
SEPARATOR = re.compile(r"[#/:]")
BASE = "http://import.invalid/"


def from_turtle(text: str) -> ReadTriples:
    """Parses Turtle. A thing's name is its label, else the last part of its IRI. Text literals are names; other
    literals and blank nodes are left out. Raises TriplesNotValid. Nothing is fetched from the network.
    """
    graph = _parsed(text)
    names = {node: name for node in {*graph.subjects(), *graph.objects()} if (name := _name(graph, node)) is not None}
    found, left = ReadTriples(), {"blank": 0, "value": 0, "unnamed": 0}
    for subject, predicate, value in sorted(graph, key=lambda triple: tuple(map(str, triple))):
        if predicate == RDF.type:
            found.types.extend(_types(names.get(subject), value))
        elif predicate not in DESCRIBES:
            if reason := _left_out(subject, value, names):
                left[reason] += 1
            else:
                found.triples.append(Triple(names[subject], _predicate(predicate), names[value]))
    reasons = {
        "blank": "with a blank node",
        "value": "whose object is a number, a date or a long text",
        "unnamed": "whose subject has no usable name",
    }
    found.notes.extend(f"{left[one]} triples {why} were left out" for one, why in reasons.items() if left[one])
    return found


def _predicate(node: Node) -> str:
    stated = _local(str(node))
    try:
        upper_snake(stated, "predicate", LONGEST_PREDICATE)
    except ValueError as error:
        raise TriplesNotValid(f"{error}: <{node}>"[:300]) from error
    return stated


def _parsed(text: str) -> Graph:
    graph = Graph(bind_namespaces="none")
    try:
        graph.parse(data=text, format="turtle", publicID=BASE)
    except BadSyntax as error:
        reason = str(getattr(error, "_why", "") or "it cannot be read")
        _refuse(int(getattr(error, "lines", 0)) + 1, reason)
    except IndexError:
        _refuse(text.rstrip().count("\n") + 1, "it ends in the middle of a statement")
    except RecursionError:
        _refuse(1, "the brackets are nested too deeply")
    except (ParserError, ValueError, AssertionError, KeyError, TypeError) as error:
        # The parser raises these too, for some input that is not Turtle, without a position.
        _refuse(1, str(error))
    if len(graph) > MOST_TRIPLES:
        raise TriplesNotValid(f"more than {MOST_TRIPLES:,} triples: bring them in several imports")
    return graph


def _refuse(line: int, reason: str) -> None:
    refuse([{"line": line, "message": f"this is no Turtle: {' '.join(reason.split())}"[:300]}])


def _name(graph: Graph, node: Node) -> str | None:
    """Returns the node's name; None if it cannot be an entity's name."""
    if isinstance(node, Literal):
        return _usable(str(node)) if node.datatype in (None, XSD.string) else None
    labels = (sorted(map(str, graph.objects(node, label))) for label in LABELS)
    named = next((each[0] for each in labels if each), None)
    if named is None and isinstance(node, URIRef):
        named = _local(str(node))
    return None if named is None else _usable(named)


def _usable(text: str) -> str | None:
    try:
        return checked_name(text, "name")
    except ValueError:
        return None


def _local(address: str) -> str:
    """Returns the last part of an IRI: `AuthService` for http://example.org/services#AuthService."""
    parts = [part for part in SEPARATOR.split(address) if part]
    return unquote(parts[-1]) if parts else ""


def _types(name: str | None, value: Node) -> list[Typed]:
    try:
        kind = upper_snake(_local(str(value)), "type", LONGEST_TYPE)
    except ValueError:
        return []
    return [Typed(name, kind)] if name is not None and kind not in CLASSES else []


def _left_out(subject: Node, value: Node, names: dict[Node, str]) -> str | None:
    if any(isinstance(node, BNode) and node not in names for node in (subject, value)):
        return "blank"
    if value not in names:
        return "value"
    return None if subject in names else "unnamed"
