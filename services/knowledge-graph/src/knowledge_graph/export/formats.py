"""Entities and relations as text: GraphML, RDF Turtle, JSON Lines. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from knowledge_graph.graph_store import StoredEntity, StoredRelation

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
TURTLE_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
STEERING = re.compile(r"[\x00-\x1f\x7f]")


class ExportForm(Protocol):
    """A file format: head, entities, relations, foot."""

    media_type: str
    extension: str
    head: str
    foot: str

    def entity(self, one: StoredEntity) -> str: ...

    def relation(self, one: StoredRelation) -> str: ...


class GraphMl:
    """GraphML (http://graphml.graphdrawing.org/specification.html), read by Gephi, yEd, Cytoscape and networkx."""

    media_type, extension = "application/graphml+xml", "graphml"
    keys = (
        ("name", "node", "string"),
        ("entity_type", "node", "string"),
        ("mentions", "node", "int"),
        ("documents", "node", "int"),
        ("aliases", "node", "string"),
        ("relation_type", "edge", "string"),
        ("weight", "edge", "double"),
        ("evidence", "edge", "int"),
    )
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        + "".join(f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n' for name, of, kind in keys)
        + '  <graph id="knowledge" edgedefault="directed">\n'
    )
    foot = "  </graph>\n</graphml>\n"

    def entity(self, one: StoredEntity) -> str:
        values: tuple[tuple[str, object], ...] = (
            ("name", one.name),
            ("entity_type", one.entity_type),
            ("mentions", one.mentions),
            ("documents", one.documents),
            ("aliases", "\n".join(one.aliases)),
        )
        return f"    <node id={_attribute(one.id)}>{_data(values)}</node>\n"

    def relation(self, one: StoredRelation) -> str:
        values = (("relation_type", one.relation_type), ("weight", f"{one.weight:g}"), ("evidence", one.evidence))
        ends = f"source={_attribute(one.source_id)} target={_attribute(one.target_id)}"
        return f"    <edge {ends}>{_data(values)}</edge>\n"


class Turtle:
    """Turtle (https://www.w3.org/TR/turtle/), as read by `POST /v1/graph/triples`. It has no weights."""

    media_type, extension = "text/turtle", "ttl"
    head = (
        "@prefix e: <urn:attractor:entity:> .\n@prefix t: <urn:attractor:type:> .\n"
        "@prefix r: <urn:attractor:relation:> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n\n"
    )
    foot = ""

    def entity(self, one: StoredEntity) -> str:
        also = "".join(f" ;\n  skos:altLabel {_literal(alias)}" for alias in one.aliases)
        kind = _named("t", "type", one.entity_type)
        return f"{_named('e', 'entity', one.id)} a {kind} ;\n  rdfs:label {_literal(one.name)}{also} .\n"

    def relation(self, one: StoredRelation) -> str:
        source, target = _named("e", "entity", one.source_id), _named("e", "entity", one.target_id)
        return f"{source} {_named('r', 'relation', one.relation_type)} {target} .\n"


class JsonLines:
    """JSON Lines: one line per entity (`kind` is entity), then one per relation."""

    media_type, extension = "application/jsonl", "jsonl"
    head = foot = ""

    def entity(self, one: StoredEntity) -> str:
        return _line(
            kind="entity",
            id=one.id,
            name=one.name,
            entity_type=one.entity_type,
            mentions=one.mentions,
            documents=one.documents,
            aliases=one.aliases,
        )

    def relation(self, one: StoredRelation) -> str:
        return _line(
            kind="relation",
            source=one.source_id,
            target=one.target_id,
            relation_type=one.relation_type,
            weight=one.weight,
            evidence=one.evidence,
        )


def _attribute(text: str) -> str:
    return quoteattr(_xml(text))


def _xml(text: str) -> str:
    """Escapes a text; characters that XML 1.0 does not allow become U+FFFD."""
    return NOT_XML.sub("\ufffd", text)


def _data(values: Sequence[tuple[str, object]]) -> str:
    return "".join(f'<data key="{name}">{escape(_xml(str(value)))}</data>' for name, value in values)


def _named(prefix: str, kind: str, name: str) -> str:
    """Returns `t:SERVICE`, or the full IRI if the name has characters that a local name may not contain."""
    return f"{prefix}:{name}" if PLAIN.fullmatch(name) else f"<urn:attractor:{kind}:{quote(name, safe='')}>"


def _literal(text: str) -> str:
    escaped = "".join(TURTLE_ESCAPES.get(char, char) for char in text)
    return '"' + STEERING.sub(lambda match: f"\\u{ord(match[0]):04X}", escaped) + '"'


def _line(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"
