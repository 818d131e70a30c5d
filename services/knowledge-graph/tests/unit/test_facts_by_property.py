"""Properties that hold for any documents: negated copies, permuted columns, hostile names."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.manifests.statement import LONGEST
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.extraction.source_document import is_source_code

NAUGHTY = Path(__file__).parents[5] / "shared/eval/naughty-strings/blns.json"
HOSTILE = ["\u202e", "%s", "' OR 1=1 --", "\\", "]]>", "{{7*7}}", "`", "<script>", "\ufeff", "../..", "${x}", "x" * 300]
STRINGS = [*HOSTILE, *(json.loads(NAUGHTY.read_text("utf-8")) if NAUGHTY.exists() else ())]
SERVICES = ("OrderService", "FareService", "MailRouter", "StockDB", "PriceStore", "ClearingServer")
VERBS = (
    ("uses", "use"),
    ("calls", "call"),
    ("reads from", "read from"),
    ("writes to", "write to"),
    ("depends on", "depend on"),
    ("relies on", "rely on"),
    ("needs", "need"),
    ("asks", "ask"),
    ("owns", "own"),
    ("runs on", "run on"),
    ("listens on", "listen on"),
    ("publishes to", "publish to"),
)
DENIALS = ("does not {}", "doesn't {}", "did not {}", "never {}", "will not {}", "no longer {}", "has never had to {}")
STRUCTURAL = {"DEPENDS_ON", "USES", "CALLS", "READS", "WRITES", "RUNS_ON", "IMPORTS", "OWNS", "PART_OF", "MAINTAINS"}


@pytest.fixture(scope="module")
def read():
    return load_reader()


def extracted(text: str, reader=None, name: str = "notes.md") -> Extraction:
    chunks = (SourceChunk("c0", text),)
    return extract(SourceDocument(name, None, is_source_code(name), chunks, "en"), reader)


def current(found: Extraction) -> set[tuple[str, str, str]]:
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.relation_type in STRUCTURAL and one.status == "current"
    }


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    ends=st.lists(st.sampled_from(SERVICES), min_size=2, max_size=2, unique=True),
    verb=st.sampled_from(VERBS),
    denial=st.sampled_from(DENIALS),
    more=st.sampled_from(["", " Its callers show a certificate.", " MailRouter sends mail."]),
)
def test_a_denied_sentence_never_states_a_current_fact(read, ends, verb, denial, more):
    who, whom = ends
    for reader in (read, None):
        for stated in (f"{who} {denial.format(verb[1])} {whom}.{more}", f"The {who} {denial.format(verb[1])} {whom}."):
            related = {pair for pair in current(extracted(stated, reader)) if {pair[0], pair[2]} == set(ends)}
            assert related == set(), stated


HEADERS = ("Service", "Calls", "Data store", "Owner", "Notes")
ROWS = (
    ("OrderService", "FareService, MailRouter", "StockDB", "Heron", "old"),
    ("FareService", "", "PriceStore", "Gull", "new"),
    ("MailRouter", "ClearingServer", "none", "Heron", "-"),
)


@pytest.mark.parametrize("order", list(permutations(range(len(HEADERS))))[::7])
def test_columns_may_appear_in_any_order(order):
    def table(places) -> str:
        lines = [[HEADERS[place] for place in places], ["---"] * len(places)]
        lines += [[row[place] for place in places] for row in ROWS]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    expected = current(extracted(table(range(len(HEADERS)))))
    assert ("OrderService", "CALLS", "MailRouter") in expected
    assert ("Gull", "OWNS", "FareService") in expected
    assert current(extracted(table(order))) == expected


MANIFESTS = {
    "compose.yaml": "services:\n  web:\n    depends_on:\n      - {}\n",
    "deployment.yml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {}\n",
    "package.json": '{{"name": "web", "dependencies": {{"{}": "^3"}}}}',
    "pyproject.toml": '[project]\nname = "web"\ndependencies = ["{}"]\n',
    "Cargo.toml": '[package]\nname = "web"\n[dependencies]\n{} = "1"\n',
    "CODEOWNERS": "/{}/ @acme/heron\n",
    "requirements.txt": "{}\n",
    "go.mod": "module {}\nrequire (\n\t{} v1\n)\n",
    "pom.xml": "<project><artifactId>web</artifactId><dependencies><dependency><artifactId>{}</artifactId>"
    "</dependency></dependencies></project>",
    "Dockerfile": "FROM {}\n",
    "openapi.yaml": "openapi: 3.1.0\ninfo:\n  title: {}\n",
    "schema.sql": "CREATE TABLE {} (id int);\n",
    "module.py": "import os\n\nclass {}:\n    pass\n",
    "client.ts": "import {{ x }} from '{}';\n",
    "table.md": "| Service | Calls |\n|---|---|\n| {} | StockDB |\n",
    "header.md": "| {} | Calls |\n|---|---|\n| OrderService | StockDB |\n",
    "field.md": "# OrderService\n\nDepends on: {}\nStatus: {}\nDate: {}\n",
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_hostile_names_are_read_or_refused_with_a_named_error(name):
    template = MANIFESTS[name]
    for string in STRINGS:
        found = extracted(template.replace("{{", "{").replace("}}", "}").replace("{}", string), name=name)
        assert all("was not read as a manifest" in note or "spaCy" in note for note in found.notes), found.notes
        for one in found.relations:
            assert one.status in {"current", "past", "planned", "negated"}


@pytest.mark.parametrize("name", ["compose.yaml", "package.json", "pyproject.toml", "schema.sql", "CODEOWNERS"])
def test_a_manifest_of_ten_megabytes_is_refused_with_a_named_error(name):
    chunk = SourceChunk("c0", "x" * (10 * 1024 * 1024 - LONGEST))
    found = extract(SourceDocument(name, None, True, (chunk, SourceChunk("c1", "services:\n  web: {}\n")), None), None)
    [note] = [one for one in found.notes if "was not read as a manifest" in one]
    assert note.startswith(name)
    assert not [one for one in found.relations if one.method != "cooccurrence"]
