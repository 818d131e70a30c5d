"""attractor graph: show, facts, dependencies, path, calculate, export, import, imports, delete-import."""

from __future__ import annotations

import json as jsonlib
from typing import Any
from uuid import UUID

import pytest
from starlette.responses import Response

ONE = str(UUID(int=1))
NOW = "2026-03-01T10:00:00Z"
FACTS, CALCULATION = "/v1/graph/tools/lookup_facts", "/v1/graph/tools/run_calculation"
DEPENDENCIES, PATHS = "/v1/graph/tools/analyze_dependencies", "/v1/graph/tools/shortest_path"
TRIPLES = "/v1/graph/triples"


def entity(name: str = "AuthService", **changes: Any) -> dict[str, Any]:
    base = {"id": name.lower(), "name": name, "entity_type": "SERVICE", "mentions": 7, "documents": 3}
    return {**base, "aliases": ["auth service"], "how": "exact", "similarity": 1.0, **changes}


def relation(source: str, kind: str, target: str, **changes: Any) -> dict[str, Any]:
    ends = {"source": source.lower(), "source_name": source, "target": target.lower(), "target_name": target}
    return {**ends, "relation_type": kind, "weight": 2.0, "evidence": 1, **changes}


def result(tool: str, **found: Any) -> dict[str, Any]:
    none = {"error": None, "suggestions": [], "documents_pending": 0}
    return {"tool_name": tool, "success": True, "result": found, **none}


def refused(tool: str, error: str, *suggestions: str) -> dict[str, Any]:
    none = {"result": None, "documents_pending": 0}
    return {"tool_name": tool, "success": False, "error": error, "suggestions": suggestions, **none}


def facts(**changes: Any) -> dict[str, Any]:
    said = {"document_id": ONE, "document_name": "services.md", "chunk_id": "c1", "method": "pattern"}
    said |= {"text": "AuthService depends on UserDB.", "confidence": 0.9}
    near = {"id": "x", "entity_type": "PERSON", "mentions": 2, "weight": 1.0, "relation_types": ["CO_OCCURS"]}
    passage = {
        "chunk_id": "c1",
        "document_id": ONE,
        "document_name": "services.md",
        "text": "AuthService issues tokens.",
    }
    found = {
        "entity": entity(),
        "alternatives": [],
        "relations": [
            relation("AuthService", "DEPENDS_ON", "UserDB", statements=[said]),
            relation("Billing", "USES", "AuthService", statements=[]),
            relation("AuthService", "CO_OCCURS", "Ada", statements=[]),
        ],
        "neighbours": [near | {"id": "userdb", "name": "UserDB"}, near | {"id": "ada", "name": "Ada"}],
        "chunks": [passage | {"section": "Tokens", "page": None, "score": None}],
    }
    return result("lookup_facts", **{**found, **changes})


class TestShow:
    def test_the_graph_is_shown_as_a_tree(self, settled, attractor) -> None:
        settled.on("POST", FACTS, facts())
        ran = attractor("graph", "show", "auth service")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == (
            "AuthService  SERVICE, 7 mentions in 3 documents, also auth service\n"
            "├── DEPENDS_ON\n"
            "│   └── → UserDB  “AuthService depends on UserDB.”\n"
            "├── USES\n"
            "│   └── ← Billing\n"
            "└── mentioned together with\n"
            "    └── Ada  PERSON, weight 1\n"
        )
        assert jsonlib.loads(settled.received[-1].body) == {
            "entity_name": "auth service",
            "max_relations": 30,
            "max_chunks": 0,
        }

    def test_the_graph_is_shown_as_json(self, settled, attractor) -> None:
        settled.on("POST", FACTS, facts())
        assert attractor("graph", "show", "auth service", "--json").json["entity"]["name"] == "AuthService"

    def test_a_misspelled_name_is_shown_with_its_match(self, settled, attractor) -> None:
        taken = entity(how="fuzzy", similarity=0.6)
        settled.on("POST", FACTS, facts(entity=taken, alternatives=[entity("AuthServer", how="fuzzy")]))
        ran = attractor("graph", "show", "AutService")
        assert (ran.code, ran.err) == (0, "using AuthService for AutService\nalso similar: AuthServer\n")

    def test_an_unknown_name_is_reported(self, settled, attractor) -> None:
        settled.on("POST", FACTS, refused("lookup_facts", "the graph has no entity named 'Nobody'", "Norbert"))
        ran = attractor("graph", "show", "Nobody")
        assert (ran.code, ran.out) == (4, "")
        assert ran.err == "Error: the graph has no entity named 'Nobody'\n  Norbert\n"
        ran = attractor("graph", "show", "Nobody", "--json")
        assert (ran.code, ran.json["success"], ran.json["suggestions"]) == (4, False, ["Norbert"])

    def test_names_cannot_control_the_terminal(self, settled, attractor) -> None:
        settled.on("POST", FACTS, facts(entity=entity("\x1b[2J\u202eevil")))
        out = attractor("graph", "show", "x").out
        assert "\x1b" not in out
        assert "\u202e" not in out


def test_answers_say_that_the_graph_is_incomplete(settled, attractor) -> None:
    settled.on("POST", FACTS, facts() | {"documents_pending": 3})
    told = "note: 3 documents are still being read into the graph; this answer may change\n"
    for command in (["graph", "facts"], ["graph", "show"]):
        ran = attractor(*command, "AuthService")
        assert (ran.code, ran.err) == (0, told)
    ran = attractor("graph", "facts", "AuthService", "--json")
    assert (ran.json["entity"]["name"], ran.err) == ("AuthService", told)
    settled.on(
        "POST", FACTS, refused("lookup_facts", "the graph has no entity named 'Nobody'") | {"documents_pending": 1}
    )
    ran = attractor("graph", "facts", "Nobody")
    assert (ran.code, ran.err.splitlines()) == (
        4,
        [
            "note: 1 document is still being read into the graph; this answer may change",
            "Error: the graph has no entity named 'Nobody'",
        ],
    )
    settled.on("POST", FACTS, facts() | {"documents_pending": None})
    assert "it is not known whether the graph has all documents" in attractor("graph", "facts", "AuthService").err


def test_facts_are_listed(settled, attractor) -> None:
    settled.on("POST", FACTS, facts())
    ran = attractor("graph", "facts", "AuthService", "--passages", "2")
    assert (ran.code, ran.err) == (0, "")
    for expected in (
        "mentions  7 in 3 documents",
        "AuthService DEPENDS_ON UserDB  weight 2\n   “AuthService depends on UserDB.”, services.md",
        "services.md, Tokens\n   AuthService issues tokens.",
    ):
        assert expected in ran.out
    assert "CO_OCCURS" not in ran.out


def test_dependencies_are_listed(settled, attractor) -> None:
    near = {"id": "1", "name": "UserDB", "depth": 1, "via": None}
    far = {"id": "2", "name": "Disk", "depth": 2, "via": "UserDB"}
    critical = {"level": "high", "reason": "12 depend on it", "dependents": 12, "all_dependents": 12, "share": 0.8}
    found = {"entity": entity(), "alternatives": [], "relation_types": ["USES"], "depends_on": [near, far]}
    more = {"depended_by": [], "cycles": [["AuthService", "UserDB"]], "criticality": critical, "truncated": True}
    settled.on("POST", DEPENDENCIES, result("analyze_dependencies", **found, **more))
    ran = attractor("graph", "dependencies", "AuthService", "--depth", "2", "-r", "uses")
    assert ran.code == 0
    assert ran.out == (
        "AuthService: high criticality; 12 depend on it\n\n"
        "AuthService depends on\n└── UserDB\n    └── Disk\n\n"
        "cycle: AuthService → UserDB → AuthService\n"
    )
    assert "cut by the limits" in ran.err
    sent = jsonlib.loads(settled.received[-1].body)
    assert sent == {"entity": "AuthService", "depth": 2, "limit": 200, "relation_types": ["USES"]}


def test_paths_between_entities_are_shown(settled, attractor) -> None:
    way = {
        "names": ["A", "B", "C"],
        "ids": ["a", "b", "c"],
        "relations": [relation("A", "USES", "B"), relation("C", "OWNS", "B")],
    }
    ends = {"source": entity("A"), "target": entity("C"), "alternatives": []}
    settled.on("POST", PATHS, result("shortest_path", **ends, paths=[way], note=None))
    ran = attractor("graph", "path", "A", "C", "--length", "3")
    assert (ran.code, ran.out, ran.err) == (0, "A -USES-> B <-OWNS- C\n", "")
    settled.on("POST", PATHS, result("shortest_path", **ends, paths=[], note="no way of up to 4 steps"))
    ran = attractor("graph", "path", "A", "C")
    assert (ran.code, ran.out, ran.err) == (0, "", "no way of up to 4 steps\n")


def test_figures_of_the_graph_are_calculated(settled, attractor) -> None:
    rows = [{"label": "ProjectAlpha", "value": 1.0, "entity_id": "p"}]
    found = {"aggregation": "count_related", "understood": "entities that point at AuthService", "value": 1.0}
    settled.on("POST", CALCULATION, result("run_calculation", **found, rows=rows, at_least=True))
    ran = attractor("graph", "calculate", "How many projects depend on AuthService?")
    assert (ran.code, ran.err) == (0, "entities that point at AuthService\n")
    assert ran.out == "at least 1\nwhat          value\nProjectAlpha  1\n"
    settled.on("POST", CALCULATION, refused("run_calculation", "this question is none", "Entities by type"))
    ran = attractor("graph", "calculate", "what is love?")
    assert (ran.code, ran.out, ran.err) == (4, "", "Error: this question is none\n  Entities by type\n")


class TestExport:
    def test_the_format_follows_the_file_extension(self, settled, attractor, tmp_path) -> None:
        settled.on("GET", "/v1/graph/export", Response(b"<graphml/>", media_type="application/graphml+xml"))
        for name, kind in (("a.graphml", "graphml"), ("a.TTL", "turtle"), ("a.jsonl", "jsonl")):
            ran = attractor("graph", "export", str(tmp_path / name))
            assert (ran.code, (tmp_path / name).read_bytes()) == (0, b"<graphml/>"), ran.err
            assert settled.received[-1].query == {"format": kind, "min_mentions": "1"}
        assert attractor("graph", "export", str(tmp_path / "b.ttl"), "--json").json["bytes"] == 10

    def test_the_export_is_written_to_stdout(self, settled, attractor) -> None:
        settled.on("GET", "/v1/graph/export", Response(b'{"kind": "entity"}\n'))
        ran = attractor("graph", "export", "--format", "jsonl", "--min-mentions", "2", "-")
        assert (ran.code, ran.out) == (0, '{"kind": "entity"}\n')
        assert settled.received[-1].query == {"format": "jsonl", "min_mentions": "2"}

    def test_a_failed_export_leaves_the_previous_file(self, settled, attractor, tmp_path, problem) -> None:
        file = tmp_path / "a.graphml"
        file.write_text("older")
        settled.on("GET", "/v1/graph/export", problem(503, "exports-busy", "Other exports are running"))
        ran = attractor("graph", "export", str(file))
        assert (ran.code, file.read_text(), list(tmp_path.iterdir())) == (5, "older", [file])

    @pytest.mark.parametrize("arguments", [("a.zip",), ("-",), ("a.graphml", "--min-mentions", "0")])
    def test_wrong_usage(self, attractor, arguments) -> None:
        assert attractor("graph", "export", *arguments).code == 2


def kept(**changes: Any) -> dict[str, Any]:
    base = {"id": ONE, "name": "services.csv", "format": "csv", "triples": 2, "entities": 3, "relations": 2}
    times = {"created_by": ONE, "created_at": NOW, "updated_at": NOW}
    return {**base, "aliases": 0, "notes": ["1 triples say again what another one says"], **times, **changes}


class TestImport:
    def test_triples_are_imported_from_a_file(self, settled, attractor, tmp_path) -> None:
        settled.on("POST", TRIPLES, kept())
        file = tmp_path / "services.csv"
        file.write_bytes(b"subject,predicate,object\nA1,uses,B1\n")
        ran = attractor("graph", "import", str(file))
        assert (ran.code, ran.out) == (0, "services.csv: 2 triples, 3 entities, 2 relations, 0 aliases\n")
        assert ran.err == "1 triples say again what another one says\n"
        [sent] = settled.calls("POST", TRIPLES)
        assert (sent.query, sent.body) == ({"name": "services.csv", "format": "csv"}, file.read_bytes())

    def test_triples_are_imported_from_stdin(self, settled, attractor) -> None:
        settled.on("POST", TRIPLES, kept())
        ran = attractor("graph", "import", "-", "--name", "cmdb", "--format", "turtle", "--json", stdin="<a> <b> <c> .")
        assert (ran.code, ran.json["triples"]) == (0, 2)
        assert settled.received[-1].query == {"name": "cmdb", "format": "turtle"}
        assert settled.received[-1].body == b"<a> <b> <c> ."

    def test_invalid_lines_are_reported(self, settled, attractor, problem, tmp_path) -> None:
        errors = [{"line": 3, "message": "the subject is empty"}]
        settled.on("POST", TRIPLES, problem(422, "triples-not-valid", "The triples cannot be read", errors=errors))
        file = tmp_path / "a.csv"
        file.write_text("x")
        ran = attractor("graph", "import", str(file))
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"{file}:3: the subject is empty\nError: The triples cannot be read\n"

    @pytest.mark.parametrize("arguments", [("a.zip",), ("-", "--format", "csv"), ("a.csv", "--format", "x")])
    def test_wrong_usage(self, attractor, arguments) -> None:
        assert attractor("graph", "import", *arguments).code == 2

    def test_a_missing_file_is_reported(self, attractor) -> None:
        ran = attractor("graph", "import", "nowhere.csv")
        assert (ran.code, ran.err) == (1, "Error: nowhere.csv: No such file or directory\n")

    def test_imported_sets_are_listed_and_deleted(self, settled, attractor) -> None:
        settled.on("GET", TRIPLES, {"items": [kept()], "next_cursor": None})
        settled.on("DELETE", f"{TRIPLES}/{ONE}", Response(status_code=204))
        assert "services.csv  csv     2        3" in attractor("graph", "imports").out
        assert attractor("graph", "imports", "--json").json[0]["id"] == ONE
        assert attractor("graph", "delete-import", ONE, "--yes").out == f"{ONE} deleted\n"
        assert attractor("graph", "delete-import", str(UUID(int=9)), "--yes").code == 4


@pytest.mark.parametrize(
    "command",
    ["show", "facts", "dependencies", "path", "calculate", "export", "import", "imports", "delete-import", "expand"],
)
def test_help_is_printed(attractor, command: str) -> None:
    assert attractor("graph", command, "--help").code == 0
