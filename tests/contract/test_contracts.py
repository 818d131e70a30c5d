"""The committed documents match the code and follow the API's conventions."""

from __future__ import annotations

import json
import re

import pytest
from contract.generated import FOLDER, MERGED, all_documents, rendered

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def documents():
    return all_documents()


def test_the_committed_documents_are_up_to_date(documents):
    committed = {file.name: file.read_text(encoding="utf-8") for file in [*FOLDER.glob("*.json"), MERGED]}
    stale = [name for name, one in documents.items() if committed.get(name) != rendered(one)]
    assert stale == [], "run `make contracts`, look at the difference, and commit it"
    assert set(committed) == set(documents)


def test_public_routes_are_versioned_and_described(documents):
    merged = documents["attractor.openapi.json"]
    for path, methods in merged["paths"].items():
        assert path.startswith("/v1/"), path
        for method in METHODS & set(methods):
            operation = methods[method]
            assert operation.get("summary"), (method, path)
            assert operation.get("tags"), (method, path)
            assert operation["operationId"], (method, path)
    operations = [one for path in merged["paths"].values() for key, one in path.items() if key in METHODS]
    identifiers = [operation["operationId"] for operation in operations]
    assert len(identifiers) == len(set(identifiers))


def test_every_reference_resolves(documents):
    for name, document in documents.items():
        for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document)):
            place = document
            for step in reference.split("/"):
                assert step in place, (name, reference)
                place = place[step]


def test_names_in_bodies_are_snake_case(documents):
    for name, document in documents.items():
        for schema in document["components"]["schemas"].values():
            for key in schema.get("properties", {}):
                assert re.fullmatch(r"[a-z][a-z0-9_]*", key), (name, key)
