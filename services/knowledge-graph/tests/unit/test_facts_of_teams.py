"""Other ways in which teams describe their systems: small letters, other headers, wishes, decision records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import is_installed, load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.extraction.source_document import is_source_code
from knowledge_graph.extraction.standing import standing

GOLD = Path(__file__).parents[1] / "gold"
STRUCTURAL = {"DEPENDS_ON", "USES", "CALLS", "READS", "WRITES", "RUNS_ON", "OWNS", "PART_OF", "MAINTAINS"}


@pytest.fixture(scope="module")
def read():
    if not is_installed():
        pytest.skip("the English model is not installed")
    return load_reader()


def extracted(read, text: str, name: str = "page.md", headings: tuple[str, ...] = ()) -> Extraction:
    chunk = SourceChunk("c0", text, headings)
    return extract(SourceDocument(name, None, is_source_code(name), (chunk,), "en"), read)


def stated(found: Extraction, status: str = "current") -> set[tuple[str, str, str]]:
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.relation_type in STRUCTURAL and one.status == status
    }


SMALL = "chat-db and queue-redis are stores. ordersvc writes to chat-db. `wordlist-api` is ours.\n\n"


def test_lower_case_names_are_names(read):
    found = stated(extracted(read, f"{SMALL}ticketd needs queue-redis. The team likes ticketd."))
    assert ("ticketd", "DEPENDS_ON", "queue-redis") in found
    assert ("ordersvc", "USES", "chat-db") in found


def test_lower_case_words_in_prose_are_not_names(read):
    found = extracted(
        read, "the team meets on monday. nobody uses sign-in data, and everyone reads from well-known pages."
    )
    assert {one.surface for one in found.mentions if one.end}.isdisjoint({"team", "nobody", "sign-in", "well-known"})


@pytest.mark.parametrize(
    "text",
    [
        "Does OrderService still depend on StockDB?",
        "The vendor would like OrderService to read from StockDB.",
        "Somebody asked whether OrderService uses StockDB.",
        "We think that OrderService uses StockDB.",
        "OrderService reads nothing from StockDB.",
        "OrderService stops using StockDB.",
        "OrderService used to read from StockDB.",
        "Before 2024 OrderService used StockDB.",
        "OrderService is going to use StockDB.",
    ],
)
def test_questions_wishes_and_past_events_are_not_current_facts(read, text):
    assert stated(extracted(read, text)) == set()


def test_a_pronoun_in_a_list_item_does_not_refer_to_previous_items(read):
    text = "StockDB does not depend on OrderService.\n- **MailRouter**\n- The router of mail. It runs on FareServer."
    assert stated(extracted(read, text)) == {("MailRouter", "RUNS_ON", "FareServer")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "| Consumer | Provider |\n|---|---|\n| OrderService | FareService |",
            ("OrderService", "CALLS", "FareService"),
        ),
        ("| folder | squad |\n|---|---|\n| `ordersvc/` | Arena |", ("Arena", "OWNS", "ordersvc")),
        ("| Komponente | Zuständig |\n|---|---|\n| Tarifrechner | Vertrieb |", ("Vertrieb", "OWNS", "Tarifrechner")),
        ("| system | database |\n|---|---|\n| OrderService | StockDB |", ("OrderService", "USES", "StockDB")),
        ("Heron : Owns OrderService and FareService. Lead: Ruth Okonjo.", ("Heron", "OWNS", "FareService")),
        ("OrderService : Depends on: StockDB (prices), FareService", ("OrderService", "DEPENDS_ON", "FareService")),
    ],
)
def test_headers_fields_and_terms_are_extracted(text, expected, read):
    assert expected in stated(extracted(read, text))


def test_a_provider_named_beside_a_product_is_not_called_by_it(read):
    assert stated(extracted(read, "| Product | Provider |\n|---|---|\n| OrderService | FareService |")) == set()


def test_a_field_belongs_to_the_nearest_heading(read):
    found = extracted(read, "- Owner: Heron\n- Depends on: StockDB", headings=("Landscape of Olaves", "OrderService"))
    assert ("OrderService", "DEPENDS_ON", "StockDB") in stated(found)
    assert all("Landscape" not in f"{one[0]}{one[2]}" for one in stated(found))


def test_a_field_value_ends_where_its_list_of_names_ends(read):
    found = stated(extracted(read, "Depends on: StockDB, until FareService is ready", headings=("OrderService",)))
    assert found == {("OrderService", "DEPENDS_ON", "StockDB")}


@pytest.mark.parametrize(
    ("section", "status", "replaces"),
    [
        ("Accepted\n\nSupersedes [2. Ratings](0002-ratings.md)", "current", ("ADR-2",)),
        ("Superseded by [9. Other](0009-other.md)", "past", ()),
        ("Proposed", "planned", ()),
        ("Rejected", "rejected", ()),
    ],
)
def test_the_status_section_determines_the_status_of_a_decision(section, status, replaces):
    chunks = (SourceChunk("c0", section, ("7. A store", "Status")),)
    found = standing(SourceDocument("adr/0007-store.md", "7. A store", False, chunks, "en"))
    assert (found.status, found.known_as, found.replaces) == (status, ("ADR-7",), replaces)


TERRAFORM = """
resource "aws_db_instance" "chart_db" {
  identifier = "chart-db"
}
resource "aws_ecs_service" "chart" {
  name            = "chart"
  task_definition = aws_ecs_task_definition.chart.arn
  tags            = { team = "heron" }
}
resource "aws_ecs_task_definition" "chart" {
  family    = "chart"
  container = jsonencode([{ environment = [
    { name = "FORMULARY_URL", value = "http://formulary:8080" },
    { name = "DB", value = aws_db_instance.chart_db.address }] }])
}
"""


def test_terraform_blocks_state_their_references():
    found = extracted(None, TERRAFORM, "main.tf")
    assert stated(found) == {
        ("chart", "DEPENDS_ON", "chart_db"),
        ("chart", "CALLS", "formulary"),
        ("heron", "OWNS", "chart"),
    }
    [place] = [one for one in found.relations if one.relation_type == "DEPENDS_ON"]
    assert "chart_db.address" in TERRAFORM[place.start : place.end]


@pytest.mark.parametrize("text", ['resource "a" {', 'module "x" { a = [' + "[" * 3000 + "]" * 3000 + "] }"])
def test_malformed_and_endless_terraform_is_refused_with_a_named_error(text):
    found = extracted(None, text, "main.tf")
    assert [note for note in found.notes if note.startswith("main.tf was not read as a manifest")]
    assert stated(found) == set()


CLUSTER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: matchmaker, annotations: {example.org/squad: arena}}
spec:
  template:
    spec:
      containers:
        - name: matchmaker
          envFrom: [{configMapRef: {name: settings}}]
          env: [{name: RATING_ADDR, value: "ratings.game.svc.cluster.local:9000"}, {name: LEVEL, value: "debug:1"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {PROFILE_URL: "http://profiles.game.svc:8000", QUEUE: "amqp://rabbit:5672"}
"""


def test_a_workload_calls_the_services_in_its_environment_and_settings():
    assert stated(extracted(None, CLUSTER, "matchmaker.yaml")) == {
        ("matchmaker", "CALLS", "ratings"),
        ("matchmaker", "CALLS", "profiles"),
        ("matchmaker", "USES", "rabbit"),
        ("arena", "OWNS", "matchmaker"),
    }


CATALOG = """
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: orders}
spec: {owner: "group:default/heron", dependsOn: ["resource:default/orders-db"], consumesApis: [prices]}
"""


def test_catalog_entries_state_owner_and_dependencies():
    assert stated(extracted(None, CATALOG, "catalog-info.yaml")) == {
        ("heron", "OWNS", "orders"),
        ("orders", "DEPENDS_ON", "orders-db"),
        ("orders", "CALLS", "prices"),
    }
    listed = "- name: keys\n  owner: platform\n  depends_on: [hsm]\n"
    assert stated(extracted(None, listed, "services.yaml")) == {
        ("platform", "OWNS", "keys"),
        ("keys", "DEPENDS_ON", "hsm"),
    }
    pipeline = "jobs:\n  build:\n    name: build\n    depends_on: [test]\n"
    assert stated(extracted(None, pipeline, "ci.yaml")) == set()


def test_an_sql_function_reads_and_writes_tables():
    text = (
        "CREATE TABLE price (id int);\nCREATE FUNCTION raise_price(f int) RETURNS void LANGUAGE sql AS $$\n"
        "  UPDATE price SET cents = f; SELECT * FROM item;\n$$;\n"
    )
    assert stated(extracted(None, text, "schema.sql")) == {
        ("raise_price", "WRITES", "price"),
        ("raise_price", "READS", "item"),
    }


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.go", 'package a\n\nimport (\n\t"fmt"\n\n\t"github.com/acme/wire"\n)\n', {"github.com/acme/wire"}),
        ("A.java", "package a;\nimport java.util.List;\nimport org.acme.Wire;\n", {"org.acme.Wire"}),
        ("a.rs", "use std::fmt;\nuse acme::wire::{A, B};\n", {"acme::wire"}),
        ("a.ts", 'import fs from "node:fs";\nimport { a } from "@acme/wire";\n', {"@acme/wire"}),
        ("a.js", 'const wire = require("acme-wire");\n', {"acme-wire"}),
        ("a.py", "import os, acme.wire as w\n# import ghost\nfrom acme import x\n", {"acme.wire", "acme"}),
    ],
)
def test_imports_are_read_from_the_syntax_tree(name, text, expected):
    assert {target for _, kind, target in stated(extracted(None, text, name)) if kind == "DEPENDS_ON"} == expected


@pytest.mark.parametrize("corpus", ["hospital", "studio", "bahn", "campus", "examples"])
def test_the_gold_set_quotes_its_files(corpus):
    root = GOLD / corpus / "files"
    root = root if root.exists() else Path(__file__).parents[4] / "infra/examples"
    gold = json.loads((GOLD / corpus / "gold.json").read_text(encoding="utf-8"))
    names = {one["name"] for one in gold["entities"]}
    for one in gold["relations"]:
        assert {one["subject"], one["object"]} <= names
        file = root / one["file"]
        assert file.exists(), one
        if file.suffix not in {".docx", ".pdf"}:
            assert one["evidence"] in file.read_text(encoding="utf-8"), one
    questions = json.loads((GOLD / corpus / "questions.json").read_text(encoding="utf-8"))
    assert all({*one["answer"], one["entity"]} <= names for one in questions)


FACTS = {
    "Neither OrderService nor StockService uses PriceDB.": ("OrderService", "USES", "PriceDB", "negated"),
    "OrderService now writes its orders to StockDB instead of OldDB.": ("OrderService", "WRITES", "OldDB", "past"),
    "OrderService has moved from OldDB to StockDB.": ("OrderService", "DEPENDS_ON", "OldDB", "past"),
    "OrderService prints its labels through LabelService.": ("OrderService", "CALLS", "LabelService", "current"),
    "- **OrderService**: owned by Stock Control": ("Stock Control", "OWNS", "OrderService", "current"),
}


@pytest.mark.parametrize(("text", "fact"), FACTS.items())
def test_a_fact_is_stated_with_the_status_of_its_sentence(read, text, fact):
    *triple, status = fact
    found = extracted(read, text)
    assert tuple(triple) in stated(found, status)
    if status != "current":
        assert tuple(triple) not in stated(found)


def test_a_fact_that_a_later_sentence_ends_is_past(read):
    found = extracted(
        read, "Today OrderService writes to OldDB. StockDB is new. OrderService has moved from OldDB to StockDB."
    )
    assert not any(target == "OldDB" for _, _, target in stated(found))


def test_a_pronoun_refers_to_the_topic_of_the_page_and_not_to_a_comparison(read):
    text = "PrintService asks PersonService for photographs, as DoorService does. It uses PhotoDB."
    assert {one for one in stated(extracted(read, text)) if one[2] == "PhotoDB"} == {
        ("PrintService", "USES", "PhotoDB")
    }


def test_a_part_of_an_unknown_thing_is_not_a_part_of_the_page(read):
    found = extracted(read, "DoorService uses KeyDB. DoorService belongs to Facilities.")
    kinds = {one.relation_type for one in found.relations if one.phrase and "belong" in one.phrase}
    assert "BELONGS_TO" in kinds
    assert "PART_OF" not in kinds


def test_fields_run_together_on_one_line_are_separated(read):
    found = extracted(read, "Maintainer: Astrid Holm Team: Water Repository: gate-api", headings=("Gate Service",))
    assert {("Astrid Holm", "MAINTAINS", "Gate Service"), ("Water", "OWNS", "Gate Service")} <= stated(found)


def test_a_table_with_only_relations_is_about_its_section(read):
    called = "| Called by | For |\n| - | - |\n| ControlService | opening by hand |\n| PlanService | the plan |"
    rows = f"| Calls | For |\n| - | - |\n| LevelService | the level |\n{called}"
    found = stated(extracted(read, rows, headings=("Gate Service", "Interfaces")))
    assert {one[0] for one in found} == {"Gate Service", "ControlService", "PlanService"}
    assert stated(extracted(read, rows.replace("For", "Colour"), headings=("Gate Service", "Interfaces"))) == set()


def test_names_made_of_ordinary_words_are_not_people(read):
    text = "Gate Keeper opens the gates. Gate Keeper needs LevelService and StockDB."
    assert ("Gate Keeper", "DEPENDS_ON", "StockDB") in stated(extracted(read, text))


def test_something_with_replicas_or_tables_is_a_store(read):
    text = "OrderService and CartService ask the Seat Ledger. The HallService reads the replica of the Seat Ledger."
    found = extracted(read, text)
    assert {one.entity_type for one in found.mentions if one.surface == "Seat Ledger"} == {"STORE"}
