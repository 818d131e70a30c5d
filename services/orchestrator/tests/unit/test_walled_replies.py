"""Replies of a process that reads untrusted content: what is not as agreed is an error, and none is waited for."""

from __future__ import annotations

from typing import Any, cast

import pytest

from orchestrator.walled.work import Replies
from service_kit.sandbox import SandboxedProcess


class ScriptedProcess:
    """A process that sends these messages; None means that no message comes in time."""

    def __init__(self, *messages: bytes | None) -> None:
        self.messages = list(messages)

    def receive(self, seconds: float, most: int) -> bytes | None:
        assert seconds >= 0
        assert most > 0
        if not self.messages:
            raise EOFError
        return self.messages.pop(0)


def replies(*messages: bytes | None) -> Replies:
    return Replies(cast(SandboxedProcess, ScriptedProcess(*messages)), seconds=60.0)


def test_content_comes_in_pieces() -> None:
    received = replies(b'{"bytes": 5}', b"abc", b"de")
    assert received.body() == {"bytes": 5}
    assert received.content(5) == b"abcde"


@pytest.mark.parametrize("message", [b"[1]", b"7", b"null", b"\xff", b"{"])
def test_a_reply_that_is_no_object_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        replies(message).body()


def test_more_content_than_announced_is_refused() -> None:
    with pytest.raises(ValueError, match="6 bytes instead of 5"):
        replies(b"abc", b"def").content(5)


@pytest.mark.parametrize(("messages", "error"), [([None], TimeoutError), ([], EOFError)])
def test_a_late_reply_and_an_ended_process_are_told_apart(messages: list[Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        replies(*messages).body()
