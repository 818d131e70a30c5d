import json

import pytest

from gateway.proxy import query_cost
from gateway.proxy.body_limit import BodyLimit, weight_of


def tokens(**request):
    return query_cost.tokens(json.dumps(request).encode())


def test_an_ordinary_search_costs_one_token_and_one_slot():
    assert tokens(query="who answers for the pipeline?", k=20) == 1
    assert query_cost.weight(1) == 1


def test_wordings_characters_and_explained_hits_add_to_the_cost():
    assert tokens(query="a", queries=["b", "c"]) == 3
    assert tokens(query="a" * 10_000) == 11
    assert tokens(query="a" * 1250, queries=["a" * 1250] * 7) == 8 + 80
    assert tokens(query="a", k=100) == 1
    assert tokens(query="a", k=100, highlight=True) == 6
    assert tokens(query="a", top_k=100, explain=True) == 6
    assert query_cost.weight(88) >= 16


@pytest.mark.parametrize(
    "body", [b"", b"nothing", b"[1]", b"null", b"\xff", b'{"query": 3, "queries": {}}', b"[" * 100_000]
)
def test_other_requests_cost_one_token(body):
    assert query_cost.tokens(body) == 1


def test_a_request_with_images_costs_by_its_size() -> None:
    sizes = {b"": 1, b"0": 1, b"1000": 1, b"1001": 2, b"8000": 8, b"x": 1}
    assert {size: weight_of({"headers": [(b"content-length", size)]}, 1_000) for size in sizes} == sizes
    limit, doors = BodyLimit(lambda *_: None, files=99_000, others=1_000), ("/v1/chat/completions", "/v1/responses")
    json = (b"content-type", b"application/json")
    limits = [
        limit.limit({"path": path, "headers": [json, (b"content-length", b"1")]}) for path in (*doors, "/v1/runs")
    ]
    assert [*limits, limit.limit({"path": doors[0], "headers": [json]})] == [8_000, 8_000, 1_000, 1_000]
