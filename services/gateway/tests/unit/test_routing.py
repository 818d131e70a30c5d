from urllib.parse import unquote

import pytest

from gateway.proxy.routing import is_plain, prefix_of


@pytest.mark.parametrize(
    ("path", "service"),
    [
        ("/v1/documents", "ingestion"),
        ("/v1/documents/", "ingestion"),
        ("/v1/documents/a/b", "ingestion"),
        ("/v1/sources/x", "ingestion"),
        ("/v1/search", "retrieval"),
        ("/v1/context", "retrieval"),
        ("/v1/graph/entities", "knowledge-graph"),
        ("/v1/graph/triples", "knowledge-graph"),
        ("/v1/memories/recall", "memory"),
        ("/v1/sessions/1/messages", "orchestrator"),
        ("/v1/runs/1/events", "orchestrator"),
        ("/v1/chat/completions", "orchestrator"),
        ("/v1/models/attractor", "orchestrator"),
        ("/v1/responses/resp_1/cancel", "orchestrator"),
        ("/v1/embeddings", "retrieval"),
        ("/v1/settings/answers.temperature", "orchestrator"),
        ("/v1/presets/terse", "orchestrator"),
    ],
)
def test_a_path_is_routed_by_its_prefix(path, service):
    prefix = prefix_of(path)
    assert prefix is not None
    assert prefix.service == service


@pytest.mark.parametrize(
    ("path", "uploads"),
    [
        ("/v1/documents/x", True),
        ("/v1/graph/triples", True),
        ("/v1/graph/tools/neighbours", False),
        ("/v1/sessions/x/attachments", True),
        ("/v1/sessions/x/messages", False),
        ("/v1/runs", False),
    ],
)
def test_only_upload_routes_accept_files(path, uploads):
    prefix = prefix_of(path)
    assert prefix is not None
    assert prefix.takes_files(path) is uploads


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/documentsx", "/v1/users", "/V1/documents", "/v2/documents", "/x/v1/search"]
)
def test_unknown_paths_are_not_routed(path):
    assert prefix_of(path) is None


@pytest.mark.parametrize(
    "path", [b"/v1/documents", b"/v1/documents/", b"/v1/a/%C3%A4%20", b"/v1/a/b..c", b"/v1/a/%252e%252e/x"]
)
def test_plain_paths_are_accepted(path):
    assert is_plain(path)


@pytest.mark.parametrize(
    "path",
    [
        b"/v1/documents/../users",
        b"/v1/documents/%2e%2e/users",
        b"/v1/documents/.%2E",
        b"/v1/documents/./x",
        b"/v1//documents",
        b"//v1/documents",
        b"/v1/documents/a%2Fb",
        b"/v1/documents/a%2fb",
        b"/v1/documents/a%5Cb",
        b"/v1/documents/a\\b",
        b"/v1/documents/%00",
        b"/v1/documents/a%0d%0aX: y",
    ],
)
def test_ambiguous_paths_are_rejected(path):
    assert not is_plain(path)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        (b"/v1/models/attractor%2Fterse", True),
        (b"/v1/models/attractor/terse", True),
        (b"/v1/models/attractor%2f..%2Fterse", False),
        (b"/v1/models/..%2F..%2Fruns", False),
        (b"/v1/models/%2Fterse", False),
        (b"/v1/models/a%2F%2Fb", False),
        (b"/v1/models/a%5Cb", False),
        (b"/v1/models/a%2F%00", False),
        (b"/v1%2Fmodels/attractor", False),
        (b"/v1/presets/a%2Fb", False),
    ],
)
def test_model_names_may_contain_slashes_and_nothing_that_changes_the_path(path, plain):
    assert is_plain(path, prefix_of(unquote(path.decode()))) is plain
