"""Every `sh` block of the guides runs unchanged, in order, and succeeds."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
from api_calls import PATIENCE, REPOSITORY, Tenant, ingest

pytestmark = pytest.mark.timeout(900)  # some forty commands, each of which starts Python
# docs/graph.md uses the function of docs/api.md; here a server error fails the command.
PRELUDE = r"""
set -eu
curl() { command curl --fail-with-body "$@"; }
api() { curl -sS -H "Authorization: Bearer $ATTRACTOR_API_KEY" -H 'Content-Type: application/json' "$@"; }
"""
TEXT = """# AuthService

ProjectAlpha depends on AuthService. AuthService depends on UserDB. BillingRouter uses AuthService.
Token rotation is done by AuthService every night. AuthService calls UserDB.
The Platform team owns AuthService and BillingRouter. SignInService calls UserDB. Mercury uses BillingRouter.
"""


def blocks(page: str) -> list[str]:
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def environment(tenant: Tenant, url: str, **extra: str) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ATTRACTOR_URL": url,
        "ATTRACTOR_API_KEY": tenant.http.headers["Authorization"].removeprefix("Bearer "),
        **extra,
    }


async def run(script: str, folder: Path, variables: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        PRELUDE + script,
        cwd=folder,
        env=variables,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, f"{script}\n{output.decode()}"
    return output.decode()


async def test_the_commands_on_the_graph_page_work(make_tenant, address, tmp_path) -> None:
    path = tmp_path / "auth.md"
    path.write_text(TEXT)
    async with make_tenant("guide") as tenant:
        await ingest(tenant.http, [path])
        async with asyncio.timeout(PATIENCE):
            while not (await tenant.http.get("/v1/graph/entities?q=ProjectAlpha")).json()["items"]:  # noqa: ASYNC110
                await asyncio.sleep(0.2)  # the API has no event for it
        table = "subject,predicate,object\nOldService,uses,OldDB\n"
        old = await tenant.http.post("/v1/graph/triples", params={"name": "old", "format": "csv"}, content=table)
        fact = {"kind": "confirm", "entity": "ProjectAlpha", "relation_type": "DEPENDS_ON", "other": "AuthService"}
        confirmed = await tenant.http.post("/v1/graph/corrections", json={**fact, "reason": "seen"})
        variables = environment(tenant, address[0], IMPORT=old.json()["id"], CORRECTION=confirmed.json()["id"])
        outputs = [await run(block, tmp_path, variables) for block in blocks("graph.md")]
        assert len(outputs) >= 5
        assert not any('"success":false' in output.replace(" ", "") for output in outputs)
        assert "UserDB" in outputs[0]
        names = [one["name"] for one in (await tenant.http.get("/v1/graph/triples")).json()["items"]]
        assert set(names) == {"services.csv", "cmdb"} or set(names) == {"services", "cmdb"}


@pytest.mark.parametrize(
    ("guide", "expected"),
    [("team-member", "Mara Lindqvist approves each release"), ("integrator", "retries a payment three times")],
)
async def test_the_commands_in_each_guide_work(make_tenant, address, tmp_path, guide: str, expected: str) -> None:
    """Runs all blocks as one script, because later ones use variables of earlier ones."""
    async with make_tenant(guide) as tenant:
        output = await run("\n".join(blocks(f"guides/{guide}.md")), tmp_path, environment(tenant, address[0]))
        assert expected in output
