from __future__ import annotations

import asyncio

import pytest

from service_kit import notifications
from service_kit.notifications import Notifications
from service_kit.waiting import until


@pytest.mark.timeout(30)
async def test_a_request_that_waits_has_the_state_before_its_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "STOPPING_SECONDS", 0.0)
    heard, is_read = Notifications("not connected", "changes"), asyncio.Event()

    async def read() -> str:
        is_read.set()
        return "processing"

    waiting = asyncio.create_task(until(heard, "changes", None, read, lambda state: state == "done", timeout=600))
    await is_read.wait()
    heard.stop()
    assert await waiting == "processing"
