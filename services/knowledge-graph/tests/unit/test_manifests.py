"""What manifests and schemas state, with the line that states it; by patterns alone."""

from __future__ import annotations

import json

import pytest

from knowledge_graph.extraction.code import is_source_code
from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.manifests.statement import LONGEST
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument

COMPOSE = """\
services:
  web:
    build: web
    depends_on: [order-api]
  order-api: &api
    build: api
    depends_on:
      order-db:
        condition: service_healthy
      # ghost-db: since 2024
    environment:
      SIGN_IN_URL: http://login:8080
      CARDS: https://api.bank.example/v1
  worker:
    <<: *api
    environment: ["QUEUE_URL=http://jobs.prod.svc.cluster.local", "HERE=http://localhost:1"]
  order-db:
    image: postgres:17
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: order-api
  labels: {example.com/owner: team-heron}
spec:
  template:
    spec:
      containers:
        - name: order-api
          env: [{name: DB, value: "postgresql://app@order-db:5432/orders"}]
"""
SCHEMA = """\
-- Order Ledger: what customers buy.
CREATE TABLE customer (id bigint PRIMARY KEY);
CREATE TABLE "order" (id bigint, customer_id bigint REFERENCES customer (id));
ALTER TABLE payment ADD CONSTRAINT paid FOREIGN KEY (order_id) REFERENCES "order" (id);
CREATE VIEW open_orders AS WITH late AS (SELECT * FROM "order") SELECT * FROM late JOIN customer ON true;
"""
PYPROJECT = '[project]\nname = "order-api"\ndependencies = ["httpx>=0.27", "pydantic>=2,<3"]\n# "requests" is gone\n'
PACKAGE = json.dumps({"name": "web", "dependencies": {"zod": "^3"}, "devDependencies": {"vite": "^5"}}, indent="\t")
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><artifactId>base</artifactId></parent>
  <artifactId>billing</artifactId>
  <dependencies>
    <dependency><groupId>org.acme</groupId><artifactId>spring-web</artifactId></dependency>
    <dependency><artifactId>junit</artifactId><scope>test</scope></dependency>
  </dependencies>
  <build><plugins><plugin><artifactId>shade</artifactId></plugin></plugins></build>
</project>
"""
OWNERS = (
    "# who\n*  @acme/all\n/order-api/  @acme/heron @somebody\n/order-api/  @acme/team-gull\n/docs/*.md @acme/heron\n"
)
CARGO = '[package]\nname = "scanner"\n[dependencies]\nserde = "1"\n'

Stated = set[tuple[str, str, str]]


def extraction_of(name: str, text: str) -> Extraction:
    chunks = tuple(SourceChunk(f"c{n}", part) for n, part in enumerate(text.split("\n\n")))
    return extract(SourceDocument(name, None, is_source_code(name), chunks), None)


def stated(name: str, text: str) -> Stated:
    found = extraction_of(name, text)
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.method != "cooccurrence"
    }


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "compose.yaml",
            COMPOSE,
            {
                ("web", "DEPENDS_ON", "order-api"),
                ("order-api", "DEPENDS_ON", "order-db"),
                ("order-api", "CALLS", "login"),
                ("worker", "DEPENDS_ON", "order-db"),
                ("worker", "CALLS", "jobs"),
                ("order-db", "RUNS_ON", "postgres"),
            },
        ),
        (
            "api.yml",
            DEPLOYMENT,
            {("team-heron", "OWNS", "order-api"), ("order-api", "USES", "order-db")},
        ),
        (
            "schema.sql",
            SCHEMA,
            {
                ("customer", "PART_OF", "Order Ledger"),
                ("order", "PART_OF", "Order Ledger"),
                ("open_orders", "PART_OF", "Order Ledger"),
                ("order", "REFERENCES", "customer"),
                ("payment", "REFERENCES", "order"),
                ("open_orders", "READS", "customer"),
                ("open_orders", "READS", "order"),
            },
        ),
        ("pyproject.toml", PYPROJECT, {("order-api", "DEPENDS_ON", "httpx"), ("order-api", "DEPENDS_ON", "pydantic")}),
        ("package.json", PACKAGE, {("web", "DEPENDS_ON", "zod"), ("web", "USES", "vite")}),
        ("CODEOWNERS", OWNERS, {("team-gull", "OWNS", "order-api")}),
        ("Cargo.toml", CARGO, {("scanner", "DEPENDS_ON", "serde")}),
        (
            "order-api/requirements.txt",
            "# tools\nhttpx[http2]>=0.27  # web\n-r base.txt\npydantic ; python_version > '3.8'\n",
            {("order-api", "DEPENDS_ON", "httpx"), ("order-api", "DEPENDS_ON", "pydantic")},
        ),
        (
            "go.mod",
            "module example.org/scanner\n\ngo 1.23\n\nrequire golang.org/x/net v0.1.0\nrequire (\n"
            "\tgithub.com/acme/wire v1.2.3\n\tgithub.com/acme/deep v1.0.0 // indirect\n)\n",
            {
                ("scanner", "DEPENDS_ON", "golang.org/x/net"),
                ("scanner", "DEPENDS_ON", "github.com/acme/wire"),
            },
        ),
        (
            "pom.xml",
            POM,
            {("billing", "DEPENDS_ON", "spring-web"), ("billing", "USES", "junit")},
        ),
        (
            "order-api/Dockerfile",
            "ARG V=1\nFROM --platform=x docker.io/library/golang:1.23 AS build\nFROM build AS test\nFROM postgres:17\n",
            {("order-api", "RUNS_ON", "golang"), ("order-api", "RUNS_ON", "postgres")},
        ),
        (
            "openapi.yaml",
            "openapi: 3.1.0\ninfo:\n  title: Order Desk\n  x-team: Heron\npaths: {}\n",
            {("Heron", "OWNS", "Order Desk")},
        ),
        ("notes.yaml", "apples: 3\nkind: fruit\n", set()),
    ],
)
def test_a_manifest_states_relations(name, text, expected):
    assert stated(name, text) == expected


def test_the_lines_between_both_ends_of_a_relation_are_the_evidence():
    found = extraction_of("compose.yaml", COMPOSE)
    evidence = {COMPOSE[one.start : one.end].strip() for one in found.relations if one.method != "cooccurrence"}
    assert {
        "web:\n    build: web\n    depends_on: [order-api]",
        "order-api: &api\n    build: api\n    depends_on:\n      order-db:",
        "order-db:\n    image: postgres:17",
    } <= evidence


def test_if_the_ends_are_far_apart_only_one_line_is_the_evidence():
    settings = "".join(f"      SETTING_{number}: on\n" for number in range(40))
    text = f"services:\n  web:\n    environment:\n{settings}      API_URL: http://order-api:8080\n  order-api: {{}}\n"
    found = extraction_of("compose.yaml", text)
    evidence = {text[one.start : one.end].strip() for one in found.relations if one.method != "cooccurrence"}
    assert evidence == {"API_URL: http://order-api:8080"}


def test_a_manifest_determines_the_types_of_its_entities():
    types = {one.surface: one.entity_type for one in extraction_of("compose.yaml", COMPOSE).mentions}
    assert (types["web"], types["order-db"], types["postgres"]) == ("SERVICE", "STORE", "LIBRARY")


def test_chunk_boundaries_do_not_matter():
    apart = COMPOSE.replace("  worker:", "\n  worker:")
    assert stated("compose.yaml", apart) == stated("compose.yaml", COMPOSE)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("compose.yaml", f"{BOMB}services: {{web: {{depends_on: *h}}}}\n", "repeat too much"),
        ("compose.yaml", "services: &s\n  web: *s\n", "contain themselves"),
        ("compose.yaml", "services:\n  web: [" + "[" * 5_000, "not readable YAML"),
        ("compose.yaml", "services:\n  web: {}\n" + "#" * LONGEST, "characters"),
        ("package.json", "{", "not readable JSON"),
        ("package.json", "[" * 100_000, "not readable JSON"),
        ("pyproject.toml", "[project", "not readable TOML"),
        ("pom.xml", "<project>", "not readable XML"),
        ("pom.xml", '<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><project>&b;</project>', "document type"),
        ("pom.xml", "<a>" * 1_000, "nested too deeply"),
        ("openapi.yaml", f"{BOMB}openapi: 3.1.0\ninfo: *h\n", "repeat too much"),
    ],
)
def test_an_unreadable_manifest_is_refused_with_a_named_error(name, text, why):
    found = extraction_of(name, text)
    assert [note for note in found.notes if name in note and why in note], found.notes
    assert not [one for one in found.relations if one.method != "cooccurrence"]
