"""The stack under test: the one at ATTRACTOR_URL, or an embedded one that this session starts."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from api_calls import EXAMPLES, PATIENCE, Tenant, client, ingest, new_tenant
from stack import PATIENT, EmbeddedStack
from xdist.scheduler import LoadFileScheduling

COMMON = "tests of the common stack"
APART = ("test_compose_backup.py", "test_learned_style.py")


class OneAfterAnother(LoadFileScheduling):
    """Runs the tests of the common stack in one process, and beside it the files that have a stack of their own."""

    def _split_scope(self, nodeid: str) -> str:
        file = Path(super()._split_scope(nodeid))
        return COMMON if file.parent.name == "e2e" and file.name not in APART else str(file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneAfterAnother:
    return OneAfterAnother(config, log)


@pytest.fixture(scope="session")
def embedded_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack | None]:
    """The embedded stack; None if ATTRACTOR_URL names another one."""
    if os.environ.get("ATTRACTOR_URL"):
        yield None
        return
    settings = PATIENT | {"RATE_LIMIT_PER_MINUTE": "100000"}
    folder = tmp_path_factory.mktemp("stack")
    settings["SOURCE_ROOTS"] = json.dumps([{"path": str(folder / "documents"), "workspaces": ["*"]}])
    with EmbeddedStack.started(folder, **settings) as stack:
        yield stack


@pytest.fixture(scope="session")
def address(embedded_stack: EmbeddedStack | None) -> tuple[str, str]:
    """The URL of the stack and the administrator's key."""
    if embedded_stack is None:
        return os.environ["ATTRACTOR_URL"], os.environ["ATTRACTOR_API_KEY"]
    return embedded_stack.url, embedded_stack.api_key


@pytest.fixture(scope="session")
def data_folder(embedded_stack: EmbeddedStack | None) -> Path | None:
    """The data folder of the embedded stack."""
    return embedded_stack.folder.path if embedded_stack else None


@pytest.fixture(scope="session")
async def admin(address: tuple[str, str]) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(*address) as http:
        yield http


@pytest.fixture(scope="session")
def make_tenant(
    address: tuple[str, str], admin: httpx2.AsyncClient
) -> Callable[[str], AbstractAsyncContextManager[Tenant]]:
    """`async with make_tenant("name") as tenant`: a new workspace with its own user and that owner's key."""

    return partial(new_tenant, address[0], admin)


@pytest.fixture(scope="session")
async def tenant(make_tenant: Callable[[str], AbstractAsyncContextManager[Tenant]]) -> AsyncIterator[Tenant]:
    """A workspace that holds the example documents, all searchable and in the graph."""
    async with make_tenant("examples") as made:
        documents = await ingest(made.http, sorted(path for path in EXAMPLES.rglob("*") if path.is_file()))
        for document in documents.values():
            waiting = {"wait": "graphed", "timeout": PATIENCE}
            (await made.http.get(f"/v1/documents/{document['id']}", params=waiting)).raise_for_status()
        yield made
