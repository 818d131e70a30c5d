"""Documents, deletions, duplicates, and events out of order."""

from __future__ import annotations

from uuid import uuid4

import psycopg

from contracts.events import DocumentDeleted, DocumentDescribed

BILLING = "The BillingService depends on AuthService and UserDB. Maria Keller maintains the BillingService."
LOGIN = "AuthService is used by the LoginGateway."


async def test_a_document_becomes_entities_and_relations(client, documents, entities, auth_headers):
    await documents.graph([BILLING])
    found = await entities()
    assert {"BillingService", "AuthService", "UserDB", "Maria Keller"} <= set(found)
    assert found["BillingService"]["mentions"] == 2
    assert found["BillingService"]["entity_type"] == "SERVICE"
    detail = await client.get(f"/v1/graph/entities/{found['BillingService']['id']}", headers=auth_headers())
    stated = {
        (one["source_name"], one["relation_type"], one["target_name"], one["weight"])
        for one in detail.json()["relations"]
        if one["relation_type"] != "CO_OCCURS"
    }
    assert stated == {
        ("BillingService", "DEPENDS_ON", "AuthService", 2.0),
        ("BillingService", "DEPENDS_ON", "UserDB", 2.0),
        ("Maria Keller", "MAINTAINS", "BillingService", 2.0),
    }
    graphed = (await documents.told("document.graphed.v1"))[-1]
    status = (await client.get("/v1/graph/status", headers=auth_headers())).json()
    assert (graphed["entities"], graphed["relations"]) == (status["entities"], status["relations"])
    assert (status["extraction"], status["store"], status["documents"]) == ("ner+patterns+dependency", "postgres", 1)


async def test_shared_entities_survive_a_deletion(documents, entities, client, auth_headers):
    billing = await documents.graph([BILLING], name="billing.md")
    login = await documents.graph([LOGIN], name="login.md")
    assert (await entities())["AuthService"]["documents"] == 2

    receipt = await documents.delete(billing)
    assert receipt["service"] == "knowledge-graph"
    assert receipt["removed"]["mentions"] == 7  # four names, one of them twice, the file and its stem
    assert set(receipt["remaining"].values()) == {0}
    found = await entities()
    assert set(found) == {"AuthService", "LoginGateway", "login.md", "login"}
    assert (found["AuthService"]["documents"], found["AuthService"]["mentions"]) == (1, 1)
    relations = (await client.get(f"/v1/graph/entities/{found['AuthService']['id']}", headers=auth_headers())).json()
    assert {one["relation_type"] for one in relations["relations"]} == {"USES", "CO_OCCURS"}

    await documents.delete(login)
    status = (await client.get("/v1/graph/status", headers=auth_headers())).json()
    assert (status["entities"], status["relations"], status["documents"]) == (0, 0, 0)


async def test_of_documents_that_arrive_together_only_the_unreadable_one_fails(
    client, documents, entities, object_store, monkeypatch
):
    extractor, together = client.app.state.graph.extractor, list[int]()
    extract = extractor.extract

    async def counted(read):
        together.append(len(read))
        return await extract(read)

    monkeypatch.setattr(extractor, "extract", counted)
    texts = [BILLING, "This one is lost.", LOGIN, "The LedgerService calls BankGateway."]
    sent = [documents.convert([text]) for text in texts]
    object_store.delete([sent[1].chunks_key])
    await documents.send_all(sent)
    graphed = await documents.told_of(3)
    (failed,) = await documents.told("document.failed.v1")
    assert [one["document_id"] for one in graphed] == [str(one.document_id) for one in (sent[0], *sent[2:])]
    assert (failed["document_id"], failed["error_class"]) == (str(sent[1].document_id), "object-missing")
    assert together == [3]
    found = await entities()
    assert {"BillingService", "LoginGateway", "BankGateway"} <= set(found)
    assert found["AuthService"]["documents"] == 2


async def test_duplicate_late_and_post_deletion_events_change_nothing(documents, entities):
    newer = documents.convert(["LedgerService calls BankGateway."], version=2)
    older = documents.convert(["OldRouter calls OldDB."], version=1, document_id=newer.document_id)
    event = await documents.send(newer)
    await documents.send(newer, event_id=event)
    await documents.send(older)
    await documents.drained()
    found = await entities()
    assert set(found) == {"LedgerService", "BankGateway", "notes.md"}
    assert all(one["mentions"] == 1 for one in found.values())

    await documents.delete(newer.document_id)
    assert len(await documents.told("document.graphed.v1")) == 1  # confirmations are published in order
    await documents.send(documents.convert(["GhostService"], version=3, document_id=newer.document_id))
    early = documents.convert(["GhostService calls BankGateway."])
    await documents.delete(early.document_id)
    await documents.send(early)
    await documents.drained()
    assert await entities() == {}


async def test_a_new_version_replaces_the_old_one(documents, entities):
    document = await documents.graph(["LedgerService calls BankGateway."])
    await documents.graph(["LedgerService calls CashRegistry."], document_id=document, version=2)
    assert set(await entities()) == {"LedgerService", "CashRegistry", "notes.md"}


async def test_the_same_version_with_vectors_is_confirmed_without_another_extraction(
    client, documents, entities, monkeypatch
):
    first = documents.convert(["LedgerService calls BankGateway."], vectors=False)
    await documents.send(first)
    await documents.told_of(1)

    async def refuse(_: object) -> None:
        raise AssertionError("it is graphed already")

    monkeypatch.setattr(client.app.state.graph.extractor, "extract", refuse)
    later = {"vectors_key": first.chunks_key, "embedding_model": "m", "embedding_dims": 3}
    await documents.send(first.model_copy(update=later))
    confirmed = await documents.told_of(2)
    assert confirmed[0] == confirmed[1]
    assert set(await entities()) == {"LedgerService", "BankGateway", "notes.md"}


async def test_the_same_version_with_other_chunks_is_extracted_again(documents, entities):
    document = await documents.graph(["LedgerService calls BankGateway."])
    await documents.graph(["LedgerService calls CashRegistry."], document_id=document)
    assert set(await entities()) == {"LedgerService", "CashRegistry", "notes.md"}


async def test_the_graph_follows_a_renamed_document(documents, entities):
    document = await documents.graph(["LedgerService calls BankGateway."])
    described = DocumentDescribed(
        document_id=document, version=1, name="books/ledger.md", title=None, tags=[], source_type="upload"
    )
    await documents.send(described)
    await documents.told_of(2)
    assert set(await entities()) == {"LedgerService", "BankGateway", "ledger.md", "ledger"}
    await documents.send(described)
    await documents.send(described.model_copy(update={"version": 2, "name": "later.md"}))
    await documents.send(described.model_copy(update={"document_id": uuid4()}))
    await documents.drained()
    assert set(await entities()) == {"LedgerService", "BankGateway", "ledger.md", "ledger"}
    await documents.delete(document)
    await documents.send(described.model_copy(update={"name": "ghost.md"}))
    await documents.drained()
    assert await entities() == {}


async def test_the_order_of_documents_does_not_matter(documents, entities):
    first, second = uuid4(), uuid4()
    texts = {
        "a.md": "AuthService calls UserDB. auth_service is old.",
        "b.md": "The auth service uses UserDB. AuthServices.",
    }
    for workspace, names in ((first, ["a.md", "b.md"]), (second, ["b.md", "a.md"])):
        for name in names:
            await documents.graph([texts[name]], name=name, workspace_id=workspace)
    assert await entities(workspace_id=first) == await entities(workspace_id=second)


async def test_workspaces_are_isolated(client, documents, entities, auth_headers):
    other = uuid4()
    document = await documents.graph([BILLING])
    assert await entities(workspace_id=other) == {}
    billing = (await entities())["BillingService"]
    headers = auth_headers(workspace_id=other)
    shown = await client.get(f"/v1/graph/entities/{billing['id']}", headers=headers)
    assert (shown.status_code, shown.json()["type"]) == (404, "entity-not-found")
    body = {"query": "What does BillingService depend on?", "entities": ["BillingService"]}
    expanded = (await client.post("/v1/graph/expand", json=body, headers=headers)).json()
    assert (expanded["entities"], expanded["chunks"]) == ([], [])
    await documents.delete(document, workspace_id=other)
    assert "BillingService" in await entities()


async def test_row_level_security_hides_other_workspaces(client, documents, workspace_id):
    await documents.graph([BILLING])
    await documents.send(DocumentDeleted(document_id=uuid4()))
    await documents.drained()
    with psycopg.connect(client.database_url) as connection:
        for table in ("entity", "mention", "relation", "relation_evidence", "graphed_document", "deleted_document"):
            for seen, count in ((None, 0), (uuid4(), 0), (workspace_id, 1)):
                connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(seen or ""),))
                found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
                assert found is not None
                assert (found[0] > 0) == (count > 0), (table, seen)


async def test_missing_objects_fail_at_once_and_block_no_other_document(documents, entities, object_store):
    gone = documents.convert([BILLING])
    object_store.delete([gone.chunks_key])
    await documents.send(gone)
    await documents.graph([LOGIN], name="login.md")
    (failed,) = await documents.told("document.failed.v1")
    assert (failed["document_id"], failed["stage"]) == (str(gone.document_id), "graph")
    assert failed["error_class"] == "object-missing"
    assert "BillingService" not in await entities()


async def test_the_passages_of_an_entity_have_their_text_and_the_places_of_its_name(
    documents, entities, client, auth_headers
):
    first = "AuthService depends on UserDB. AuthService calls BillingRouter."
    one = await documents.graph([first, "BillingRouter calls UserDB."], name="auth.md")
    await documents.graph(["BillingRouter depends on AuthService."], name="billing.md")
    entity = (await entities())["AuthService"]["id"]
    path, found, cursor = f"/v1/graph/entities/{entity}/passages", [], None
    while True:
        params = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = (await client.get(path, params=params, headers=auth_headers())).json()
        found, cursor = found + page["items"], page["next_cursor"]
        if cursor is None:
            break
    assert [passage["document_name"] for passage in found] == ["auth.md", "billing.md"]
    assert (found[0]["document_id"], found[0]["text"]) == (str(one), first)
    for passage, times in zip(found, (2, 1), strict=True):
        names = [passage["text"][span["start"] : span["end"]] for span in passage["spans"]]
        assert names == ["AuthService"] * times
    other = await client.get(path, headers=auth_headers(workspace_id=uuid4()))
    assert (other.status_code, other.json()["type"]) == (404, "entity-not-found")
