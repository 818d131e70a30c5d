"""Evidence for a prompt, over HTTP."""

from __future__ import annotations

import pytest

from contracts.events import DocumentIndexed
from contracts.retrieval import SearchMode

CONTEXT = "/v1/context"


@pytest.fixture
def asking(client, auth_headers):
    """asking(*queries, **request): the response."""

    async def ask(*queries, workspace_id=None, **request):
        headers = auth_headers(workspace_id=workspace_id)
        return await client.post(CONTEXT, json={"queries": queries, **request}, headers=headers)

    return ask


async def test_a_context_is_packed_for_a_prompt(asking, ingestion, converted, client, auth_headers):
    texts = ["Chapter one is about gates.", "The port of the gateway is 8080. It is loud.", "Chapter three is short."]
    document = converted(texts, name="ports.md", heading_path=["Ports"])
    await ingestion.convert(await ingestion.embedded(document))
    await ingestion.convert(await ingestion.embedded(converted([texts[1]], name="copy.md")))
    await ingestion.wait_for(DocumentIndexed, 2)
    found = (await asking("gateway port", mode=SearchMode.lexical.value)).json()
    (evidence,) = found["evidence"]
    assert texts[1] in evidence["content"]
    assert found["text"].startswith('<passage number="1" document="')
    assert found["tokens"] <= found["max_tokens"] == 2000
    assert (found["tokenizer"], found["cut"], [leg["leg"] for leg in found["legs"]]) == ("minilm", [], ["lexical"])
    quote = evidence["quotes"][0]
    assert texts[1][quote["start"] : quote["end"]] == quote["text"] == "The port of the gateway is 8080."

    bare = (await asking("gateway port", around="nothing", tokenizer="estimate-4-bytes", max_tokens=64)).json()
    assert bare["tokenizer"] == "estimate-4-bytes"
    assert bare["tokens"] == -(-len(bare["text"].encode()) // 4) <= 64
    listed = (await client.get(f"{CONTEXT}/tokenizers", headers=auth_headers())).json()
    assert listed == {"default": "minilm", "names": ["minilm", "estimate-4-bytes"]}


async def test_without_hits_the_context_is_empty(asking):
    found = (await asking("anything")).json()
    assert (found["text"], found["tokens"], found["evidence"], found["good_match"]) == ("", 0, [], False)


async def test_an_invalid_context_request_is_rejected(asking, client):
    unknown = await asking("x", tokenizer="gpt-9")
    assert (unknown.status_code, unknown.json()["type"]) == (422, "unknown-tokenizer")
    assert unknown.json()["available"] == ["minilm", "estimate-4-bytes"]
    assert (await asking()).status_code == 422
    assert (await asking("x", max_tokens=1)).status_code == 422
    assert (await asking("x", tokenizer="nul \x00")).status_code == 422
    assert (await client.post(CONTEXT, json={"queries": ["x"]})).status_code == 401
