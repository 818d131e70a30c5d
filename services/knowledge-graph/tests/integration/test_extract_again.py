"""`extract` brings documents that an earlier version extracted to what this version would make of them."""

from __future__ import annotations

from knowledge_graph.consumer import DocumentGraphs
from knowledge_graph.extract_again import extract_again
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.recording.recount import recount
from service_kit.outbox import Outbox
from service_kit.postgres import Database

TABLE = "| Service | Depends on |\n|---|---|\n| Copydesk | StoryStore |\n| Morgue | StoryStore |"
EARLIER = "DELETE FROM relation_evidence WHERE relation_type = 'DEPENDS_ON'"


async def test_documents_of_an_earlier_version_are_extracted_again(
    client, documents, entities, workspace_id, object_store, auth_headers
):
    await documents.graph([TABLE], name="systems.md")
    triples = b"subject,predicate,object\nCopydesk,owned by,Newsroom\n"
    headers = auth_headers() | {"content-type": "text/csv"}
    imported = await client.post("/v1/graph/triples?name=cmdb", content=triples, headers=headers)
    assert imported.status_code == 201, imported.text

    async def needs() -> list[str]:
        body = {"entity": "Copydesk"}
        answer = await client.post("/v1/graph/tools/analyze_dependencies", json=body, headers=auth_headers())
        return [one["name"] for one in answer.json()["result"]["depends_on"]]

    right = await entities()
    assert await needs() == ["StoryStore"]
    async with Database(client.database_url, 2).opened() as database, Extractor() as extractor:
        async with database.workspace(workspace_id) as connection:
            await connection.execute(EARLIER)
            assert await recount(connection, workspace_id)
        assert await needs() == []
        graphs = DocumentGraphs(database, object_store, extractor, Outbox("knowledge-graph"), projects=False)
        assert await extract_again(graphs, workspace_id) == 1
    assert (await needs(), await entities()) == (["StoryStore"], right)
