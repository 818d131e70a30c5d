"""After work of each kind, each query of each panel and each rule has data: a typo or a lost label shows here."""

from __future__ import annotations

import os

import pytest
from api_calls import EXAMPLES, Tenant, ask, ingest
from contract.test_observability import dashboards
from observability.watching import RULES, Watch, eventually, observed_side, shell

pytestmark = [
    pytest.mark.skipif(not os.environ.get("ATTRACTOR_COMPOSE"), reason="needs the Compose stack: ATTRACTOR_COMPOSE=1"),
    pytest.mark.timeout(600),
]


async def work(tenant: Tenant) -> None:
    await ingest(tenant.http, [EXAMPLES / "services.md", EXAMPLES / "handbook" / "identity-handbook.pdf"])
    for _ in range(2):  # the second search is answered from the cache
        (await tenant.http.post("/v1/search", json={"query": "Who owns AuthService?"})).raise_for_status()
    await ask(tenant.http, "Which projects depend on AuthService?")


@pytest.mark.usefixtures("backups")
async def test_every_query_of_every_panel_and_rule_returns_data(watch: Watch, tenant: Tenant) -> None:
    queries = [
        (f"{name}: {panel.title}", query.replace("$service", "retrieval"))
        for name, panels in dashboards().DASHBOARDS.items()
        for panel in panels
        for query in panel.queries.values()
    ]
    queries += [(rule["alert"], observed_side(rule["expr"])) for group in RULES for rule in group["rules"]]
    await work(tenant)
    missing = watch.without_data(queries)
    assert not missing, shell("docker compose ps --all") + "\n".join(map(str, missing))


def test_every_process_has_metrics_and_no_series_of_creation(watch: Watch) -> None:
    services = {"gateway", "orchestrator", "ingestion", "ingestion-worker", "retrieval", "knowledge-graph", "memory"}

    def answering() -> set[str]:
        return {one["metric"]["service"] for one in watch.value('up{job="attractor"} == 1')}

    eventually(lambda: answering() == services)
    built = watch.value("count by (service, version, schema) (attractor_build_info)")
    assert {one["metric"]["service"] for one in built} == services
    assert all(one["metric"]["version"] and one["metric"]["schema"] for one in built)
    assert watch.value('{__name__=~"attractor_.*_created"}') == []
