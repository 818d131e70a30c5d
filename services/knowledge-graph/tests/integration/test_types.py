"""The type of a name is decided by what all documents say of it."""

from __future__ import annotations

import pytest

LISTED = "| Service | Team |\n|---|---|\n| Copydesk | Newsroom |\n| Morgue | Archive |"
GUESSED = "Copydesk stands in Leeds."
CALLS = "The round met. Copydesk uses Bannerman for adverts."


@pytest.fixture
def type_of(entities):
    async def read(name: str) -> str | None:
        found = (await entities()).get(name)
        return found and found["entity_type"]

    return read


async def test_a_stated_type_outweighs_what_more_documents_only_suggest(documents, type_of):
    bucket = "StoryStore is kept in CopyVault. PageService uses CopyVault."
    for name in ("a.md", "b.md", "c.md"):
        await documents.graph([bucket], name=name)
    assert await type_of("CopyVault") == "STORE"
    table = await documents.graph(["| Service | Team |\n|---|---|\n| CopyVault | Web |"], name="table.md")
    assert await type_of("CopyVault") == "SERVICE"
    await documents.delete(table)
    assert await type_of("CopyVault") == "STORE"


async def test_what_a_service_of_another_document_calls_is_a_service(documents, type_of):
    mail = await documents.graph([CALLS], name="mail.md")
    guessed = await type_of("Bannerman")
    assert guessed not in {"SERVICE", None}
    table = await documents.graph([LISTED], name="table.md")
    assert await type_of("Bannerman") == "SERVICE"
    await documents.delete(table)
    assert await type_of("Bannerman") == guessed
    await documents.delete(mail)
    assert await type_of("Bannerman") is None


async def test_a_corrected_type_stands_against_all_documents(documents, type_of, client, auth_headers):
    await documents.graph([LISTED], name="table.md")
    await documents.graph([CALLS], name="mail.md")
    for name, entity_type in {"Bannerman": "ORG", "Copydesk": "PROJECT"}.items():
        body = {"kind": "type", "entity": name, "entity_type": entity_type, "reason": "checked"}
        answer = await client.post("/v1/graph/corrections", json=body, headers=auth_headers())
        assert answer.status_code == 201, answer.text
    await documents.graph([f"{CALLS} {GUESSED}"], name="again.md")
    assert (await type_of("Bannerman"), await type_of("Copydesk")) == ("ORG", "PROJECT")
