"""Every command of docs/graph.md runs as it stands there, and is answered with success."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from api_calls import PATIENCE, REPOSITORY, ingest

GUIDE = REPOSITORY / "docs" / "graph.md"
# As in docs/api.md, but that an error of the server is one of the command.
PRELUDE = r"""
set -eu
curl() { command curl --fail-with-body "$@"; }
api() { curl -sS -H "Authorization: Bearer $ATTRACTOR_API_KEY" -H 'Content-Type: application/json' "$@"; }
"""
TEXT = """# AuthService

ProjectAlpha depends on AuthService. AuthService depends on UserDB. BillingRouter uses AuthService.
Token rotation is done by AuthService every night. AuthService calls UserDB.
"""


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


async def run(script: str, folder: Path, environment: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        PRELUDE + script,
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(PATIENCE):
        output, _ = await process.communicate()
    assert process.returncode == 0, f"{script}\n{output.decode()}"
    return output.decode()


async def test_the_guide_s_commands_work(make_tenant, address, tmp_path) -> None:
    path = tmp_path / "auth.md"
    path.write_text(TEXT)
    async with make_tenant("guide") as tenant:
        await ingest(tenant.http, [path])
        async with asyncio.timeout(PATIENCE):
            while not (await tenant.http.get("/v1/graph/entities?q=ProjectAlpha")).json()["items"]:  # noqa: ASYNC110
                await asyncio.sleep(0.2)  # the API has no event for it
        table = "subject,predicate,object\nOldService,uses,OldDB\n"
        old = await tenant.http.post("/v1/graph/triples", params={"name": "old", "format": "csv"}, content=table)
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "ATTRACTOR_URL": address[0],
            "ATTRACTOR_API_KEY": tenant.http.headers["Authorization"].removeprefix("Bearer "),
            "IMPORT": old.json()["id"],
        }
        outputs = [await run(block, tmp_path, environment) for block in blocks()]
        assert len(outputs) >= 5
        assert not any('"success":false' in output.replace(" ", "") for output in outputs)
        assert "UserDB" in outputs[0]
        names = [one["name"] for one in (await tenant.http.get("/v1/graph/triples")).json()["items"]]
        assert set(names) == {"services.csv", "cmdb"} or set(names) == {"services", "cmdb"}
