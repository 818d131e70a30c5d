"""Runs a command with a client: configuration, event loop, and errors as one line and an exit code."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar, get_type_hints

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
from attractor_client.http.retry import RetryPolicy
from attractor_client.http.transport import is_readable_on_the_way
from attractor_client.output import Output

T = TypeVar("T")
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout and nothing else.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of items to list.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation prompt.")]
Work = Callable[[AttractorClient, Output], Awaitable[None]]

FAILED, USAGE, DENIED, NOT_FOUND, UNREACHABLE, INTERRUPTED = 1, 2, 3, 4, 5, 130
EXIT_CODES = (
    "Exit codes: 0 success; 1 failure; 2 usage or configuration error; 3 missing, invalid or insufficient key; "
    "4 not found; 5 server unreachable or unavailable; 130 interrupted."
)
# A user waits at the prompt, so an unreachable server is reported soon. A long batch outlasts a restart.
AT_THE_PROMPT = RetryPolicy(attempts=4, first=0.2, patience=20.0)
PATIENT = RetryPolicy(attempts=9, first=0.5, patience=240.0)


@dataclass(frozen=True)
class Flags:
    """Options given before the command. `anonymous`: use no key, even if one is configured."""

    url: str | None = None
    api_key: str | None = None
    json: bool = False
    anonymous: bool = False


def run(ctx: typer.Context, json: bool, work: Work, *, patient: bool = False) -> None:
    """Runs `work` with a client. Every expected error becomes one line on stderr and an exit code."""
    flags = ctx.find_object(Flags) or Flags()
    output = Output(json or flags.json)
    try:
        used = configuration(flags.url, flags.api_key)
        if flags.anonymous:
            used = replace(used, api_key=None)
        if used.api_key:
            warn_if_readable(used.url, "API key", output)
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


def warn_if_readable(url: str, secret: str, output: Output) -> None:
    """Warns on stderr if the secret would leave this machine without encryption."""
    if is_readable_on_the_way(url):
        output.note(f"Warning: {url} is not encrypted: others on the way can read the {secret}", "yellow")


def connected(
    *, patient: bool = False, **groups: Callable[..., Any]
) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Turns a coroutine function, whose first two parameters are a client and the output, into a command.

    The command takes the other parameters, and --json; with `patient`, it outlasts a restart of the server. A parameter
    named in `groups` is replaced by the parameters of that group's function, which several commands share; the
    coroutine receives the function's result.
    """

    def decorated(work: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        def command(ctx: typer.Context, json: bool, **given: Any) -> None:
            for group, function in groups.items():
                values = {name: given.pop(name) for name in inspect.signature(function).parameters}
                try:
                    given[group] = function(**values)
                except ValidationError as error:
                    raise typer.BadParameter(first_error(error)) from error
            run(ctx, json, lambda client, output: work(client, output, **given), patient=patient)

        parameters = [inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
        for parameter in _parameters(work)[2:]:
            parameters += _parameters(groups[parameter.name]) if parameter.name in groups else [parameter]
        parameters.append(inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))
        command.__name__, command.__doc__ = work.__name__, work.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # as inspect documents it
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorated


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    return [one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY) for one in parameters]


async def _with_client(used: Configuration, output: Output, work: Work, patient: bool) -> None:
    async with AttractorClient(used.url, used.api_key, retry=AT_THE_PROMPT) as client:
        if not patient:
            await work(client, output)
            return
        await client.accounts.me()
    async with AttractorClient(used.url, used.api_key, retry=PATIENT) as client:
        await work(client, output)


def confirm(question: str, output: Output, yes: bool) -> None:
    """Asks for confirmation at a terminal; aborts the command if the user declines."""
    if not yes and output.notes.is_terminal and typer.get_text_stream("stdin").isatty():
        typer.confirm(question, abort=True, err=True)


async def at_most(limit: int, items: AsyncIterator[T]) -> list[T]:
    """Returns the first `limit` items."""
    found: list[T] = []
    async for item in items:
        found.append(item)
        if len(found) == limit:
            break
    return found


async def show_list(
    output: Output,
    items: AsyncIterator[T],
    limit: int,
    columns: Sequence[str],
    row: Callable[[T], Sequence[object]],
) -> None:
    """Prints the first `limit` items, as JSON or as a table with a row for each."""
    found = await at_most(limit, items)
    if output.as_json:
        output.json(found)
        return
    output.table(columns, map(row, found))
    if len(found) == limit:
        output.note(f"showing the first {limit}; there may be more (--limit)")


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
        case NotFound(type="artifact-not-found"):
            return '. Have one written in `attractor chat` ("write a report on ..."), or: attractor artifact write'
        case NotFound(type="artifact-version-not-found"):
            return ". List those that there are: attractor artifact versions"
        case Forbidden(type="forbidden"):  # the others say themselves what they need
            return ". Use a key with a higher role"
        case Unreachable():
            return f". Is Attractor running at {used.url}? Start it, or set --url or ATTRACTOR_URL"
    if error.retry_after:
        return f". Try again in {error.retry_after:.0f} s"
    return f" (trace {error.trace_id})" if error.trace_id and (error.status or 0) >= 500 else ""


def first_error(error: Exception) -> str:
    """Returns the error in one line: for a validation error, the first field."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or error.title}: {first['msg']}"
    return str(error)
