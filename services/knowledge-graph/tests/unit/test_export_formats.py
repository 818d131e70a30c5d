"""Exported files, as other programs read them."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from knowledge_graph.export.formats import GraphMl, JsonLines, Turtle
from knowledge_graph.graph_store import StoredEntity, StoredRelation

HOSTILE = [
    "<script>alert('x')</script>",
    'a"b&c',
    "]]>",
    "control \x01\x1f\x7f here",
    "\ufffe\uffff",
    "💥 مرحبا \u202e",
    "line\nbreak\ttab",
    '"""\\',
    "'; DROP TABLE entity; --",
]


def entity(name: str, number: int = 1) -> StoredEntity:
    return StoredEntity(f"{number:032x}", "key", name, "SERVICE", 3, 2, ["other", f"{name}?"][: 3 - number])


def relation(kind: str) -> StoredRelation:
    return StoredRelation(f"{1:032x}", f"{2:032x}", kind, 2.5, 1)


def file(form, name: str, kind: str = "DEPENDS_ON") -> str:
    return (
        form.head + form.entity(entity(name)) + form.entity(entity("b", 2)) + form.relation(relation(kind)) + form.foot
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_graphml_is_valid_xml_for_any_names(name):
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    root = ElementTree.fromstring(file(GraphMl(), name))
    [node, _] = root.findall(".//g:node", space)
    values = {one.get("key"): one.text for one in node.findall("g:data", space)}
    assert values["mentions"] == "3"
    if all(char.isprintable() or char in "\n\t" for char in name):
        assert values["name"] == name
    [edge] = root.findall(".//g:edge", space)
    assert edge.get("source") == node.get("id")
    assert {one.get("key"): one.text for one in edge.findall("g:data", space)} == {
        "relation_type": "DEPENDS_ON",
        "weight": "2.5",
        "evidence": "1",
    }
    declared = {one.get("id") for one in root.findall("g:key", space)}
    assert {one.get("key") for one in root.findall(".//g:data", space)} == declared


def test_graphml_can_be_read_by_networkx():
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.parse_graphml(file(GraphMl(), "AuthService"))
    assert graph.nodes[f"{1:032x}"]["name"] == "AuthService"
    assert [data["weight"] for *_, data in graph.edges(data=True)] == [2.5]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["DEPENDS_ON", "ÜBT_AUS", "2ND"])
def test_turtle_is_valid_for_any_names(name, kind):
    from rdflib import RDFS, Graph, Literal  # noqa: PLC0415  it is slow to import

    graph = Graph().parse(data=file(Turtle(), name, kind), format="turtle")
    assert Literal(name) in set(graph.objects(None, RDFS.label))
    assert len(graph) == 4 + 3 + 1  # type, label, two or one other names; and the relation


@pytest.mark.parametrize("name", HOSTILE)
def test_json_lines_have_one_object_per_line(name):
    lines = [json.loads(line) for line in file(JsonLines(), name).split("\n") if line]
    assert [one["kind"] for one in lines] == ["entity", "entity", "relation"]
    assert lines[0]["name"] == name
