"""Prints results to stdout and everything else to stderr; with --json, only JSON to stdout."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_core import to_jsonable_python
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

# Wide enough that nothing is cut or wrapped if there is no terminal.
UNLIMITED_COLUMNS = 10_000
# C0 and C1 controls except tab and newline, lone surrogates, and the embeddings, overrides and isolates of UAX #9.
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Replaces the characters of untrusted text that could control a terminal or its text direction."""
    return STEERING.sub("\ufffd", text)


class Output:
    """Writes to stdout and stderr; `screen`: stdout is a terminal that can show results as they arrive."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.out = _console(stderr=False)
        self.notes = _console(stderr=True)
        self.screen = self.out.is_terminal and not self.out.is_dumb_terminal and not as_json

    def json(self, value: Any, *, line: bool = False) -> None:
        """Prints one JSON document; with `line`, one line of JSON Lines."""
        ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
        values = to_jsonable_python(value)
        _write(json.dumps(values, ensure_ascii=ascii_only, indent=None if line else 2) + "\n")

    def text(self, text: str = "", style: str = "") -> None:
        self.out.print(Text(plain(text), style=style))

    def result(self, value: Any, text: str) -> None:
        """Prints the value as JSON with --json, else the text."""
        self.json(value) if self.as_json else self.text(text)

    def show(self, what: RenderableType) -> None:
        if self.out.is_terminal:
            self.out.print(what)
            return
        with self.out.capture() as rendered:
            self.out.print(what)
        # Tables and padding fill every line with spaces.
        _write("".join(f"{line.rstrip()}\n" for line in rendered.get().splitlines()))

    def note(self, text: str, style: str = "dim", *, beside_live: bool = False) -> None:
        """Prints one line to stderr, whatever its length; `beside_live`: above a live display, not into it."""
        console = self.out if beside_live and self.screen and self.notes.is_terminal else self.notes
        console.print(Text(plain(text), style=style), soft_wrap=True)

    def fields(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Prints names and values, one per line; skips values that are None or empty."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in pairs:
            if value not in (None, "", []):
                grid.add_row(name, Text(plain(str(value))))
        self.show(grid)

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, whole: Sequence[str] = ("id",)
    ) -> None:
        """Prints a table; columns named in `whole` are never wrapped. A cell may be a Text with its own style."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in columns:
            table.add_column(name, overflow="fold", no_wrap=name in whole)
        for row in rows:
            table.add_row(*map(_cell, row))
        if table.row_count:
            self.show(table)
        else:
            self.note("nothing to list")


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text(plain("" if value is None else str(value)))


def _write(text: str) -> None:
    """Writes and flushes, so a closed pipe raises here and not when Python exits."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=UNLIMITED_COLUMNS)
    return console
