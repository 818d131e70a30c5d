"""From a command to the client and back: configuration, the event loop, errors as one line and an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

import typer
from pydantic import ValidationError

from attractor_client.client import AttractorClient
from attractor_client.configuration import BadConfiguration, Configuration, configuration
from attractor_client.errors import (
    AttractorError,
    Forbidden,
    NotFound,
    Unauthenticated,
    Unavailable,
    Unreachable,
)
from attractor_client.output import Output
from attractor_client.retry import RetryPolicy

T = TypeVar("T")
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="List at most this many.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Work = Callable[[AttractorClient, Output], Awaitable[None]]

FAILED, USAGE, DENIED, NOT_FOUND, UNREACHABLE, INTERRUPTED = 1, 2, 3, 4, 5, 130
EXIT_CODES = (
    "Exit codes: 0 done; 1 failed; 2 wrong usage or configuration; 3 the key is missing, not valid or may not do this; "
    "4 not found; 5 the server cannot be reached or is not available; 130 interrupted."
)
# Someone waits at the prompt: a server that is not there is told soon. A long batch outlasts a restart.
AT_THE_PROMPT = RetryPolicy(attempts=4, first=0.2)
PATIENT = RetryPolicy(attempts=9, first=0.5)


@dataclass(frozen=True)
class Flags:
    """The options that stand before the command."""

    url: str | None = None
    api_key: str | None = None
    json: bool = False


def run(ctx: typer.Context, json: bool, work: Work, *, patient: bool = False) -> None:
    """Runs `work` with a client; every error that is not a defect ends in one line on stderr and an exit code."""
    flags = ctx.find_object(Flags) or Flags()
    output = Output(json or flags.json)
    try:
        used = configuration(flags.url, flags.api_key)
        asyncio.run(_with_client(used, output, work, patient))
    except (BadConfiguration, ValueError) as error:
        output.note(f"Error: {first_error(error)}", "red")
        raise typer.Exit(USAGE) from error
    except AttractorError as error:
        output.note(f"Error: {error}{_advice(error, used)}", "red")
        raise typer.Exit(exit_code(error)) from error
    except KeyboardInterrupt as error:
        output.note("interrupted")
        raise typer.Exit(INTERRUPTED) from error


async def _with_client(used: Configuration, output: Output, work: Work, patient: bool) -> None:
    async with AttractorClient(used.url, used.api_key, retry=AT_THE_PROMPT) as client:
        if not patient:
            await work(client, output)
            return
        await client.accounts.me()
    async with AttractorClient(used.url, used.api_key, retry=PATIENT) as client:
        await work(client, output)


def confirm(question: str, output: Output, yes: bool) -> None:
    """Asks where someone can answer; ends the command when the answer is no."""
    if not yes and output.notes.is_terminal and typer.get_text_stream("stdin").isatty():
        typer.confirm(question, abort=True, err=True)


async def at_most(limit: int, items: AsyncIterator[T]) -> list[T]:
    """The first `limit` items."""
    found: list[T] = []
    async for item in items:
        found.append(item)
        if len(found) == limit:
            break
    return found


def exit_code(error: AttractorError) -> int:
    match error:
        case Unauthenticated() | Forbidden():
            return DENIED
        case NotFound():
            return NOT_FOUND
        case Unreachable() | Unavailable():
            return UNREACHABLE
    return FAILED


def _advice(error: AttractorError, used: Configuration) -> str:
    match error:
        case Unauthenticated() if used.api_key is None:
            return ". Set ATTRACTOR_API_KEY, or run: attractor login"
        case Unauthenticated():
            return ". Check ATTRACTOR_API_KEY, or run: attractor login"
        case Forbidden():
            return ". Use a key with a higher role"
        case Unreachable():
            return f". Is Attractor running at {used.url}? Start it, or give its address with --url or ATTRACTOR_URL"
    if error.retry_after:
        return f". Try again in {error.retry_after:.0f} s"
    return f" (trace {error.trace_id})" if error.trace_id and (error.status or 0) >= 500 else ""


def first_error(error: Exception) -> str:
    """What is wrong, in a line: of a model that does not fit, its first field that does not."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or error.title}: {first['msg']}"
    return str(error)
