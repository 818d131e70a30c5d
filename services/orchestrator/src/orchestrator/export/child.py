"""Writes an artifact as a file, behind the walls of `service_kit.sandbox`. Imports little: it is loaded only for this.

Pandoc is a separate program, started with its own sandbox on; typst is a library. Both are optional here.
"""

from __future__ import annotations

import html
import importlib.util
import json
import os
import subprocess
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from string import Template
from typing import Any

from orchestrator.export.document import Node, SafeDocument, code_block, starts_with_heading, titled
from orchestrator.export.limits import FAILED, MISSING, TOO_LARGE, ExportLimits
from orchestrator.export.scripts import undrawn
from orchestrator.walled.child import WorkRefused, limit_resources, send_content, send_refusal
from service_kit.sandbox.usage import OwnMemory

try:
    import typst
except ImportError:  # no wheel for this platform
    typst = None  # type: ignore[assignment]  # a missing module

READER = (
    "commonmark-raw_html+pipe_tables+strikeout+task_lists+footnotes+tex_math_dollars+autolink_bare_uris"
    "+gfm_auto_identifiers"
)
PAGES = Path(__file__).parent
HEAP_EXHAUSTED = 251  # exit code of a GHC program that has reached its heap limit
NO_MEMORY = b"Unable to commit"  # its message if the system refuses more memory
NO_LETTERS = "The fonts of PDF files have no letters for: {scripts}. Export it as DOCX or HTML."
FOLDER = Path("typst")  # the only folder that a typst document can read; it contains nothing else


@dataclass(frozen=True)
class ExportAssignment:
    """What to write. `notes` are citations by number; `written_at` is in seconds since 1970."""

    text: str
    target: str
    title: str | None
    is_code: bool
    language: str | None
    notes: dict[str, str]
    written_at: int
    limits: dict[str, Any]


def serve(messages: Connection, _: OwnMemory) -> None:
    """Receives an `ExportAssignment`; sends the size of the file and its bytes in pieces, or why there is none."""
    try:
        wanted = ExportAssignment(**json.loads(messages.recv_bytes()))
    except EOFError:
        return
    try:
        limits = ExportLimits(**wanted.limits)
        limit_resources(limits.seconds, limits.memory_bytes, limits.output_bytes)
        written = FileWriter(wanted, limits).file()
        if len(written) > limits.output_bytes:
            raise WorkRefused(TOO_LARGE, "The file would become too large.")
    except WorkRefused as error:
        send_refusal(messages, error.reason, str(error))
    except (MemoryError, RecursionError):
        send_refusal(messages, TOO_LARGE, "The text is too large, or nested too deeply.")
    else:
        send_content(messages, written)


@dataclass(frozen=True)
class FileWriter:
    """Converts one artifact into a file."""

    wanted: ExportAssignment
    limits: ExportLimits

    def file(self) -> bytes:
        """Raises WorkRefused."""
        match self.wanted.target:
            case "docx":
                return self._pandoc("json", "docx", _written(titled(self._document(), self.wanted.title)))
            case "html":
                return self._html()
        return self._pdf()

    def _document(self, math_as_code: bool = False) -> Node:
        if self.wanted.is_code:
            empty: Node = json.loads(self._pandoc("commonmark", "json", b""))
            return {**empty, "blocks": [code_block(self.wanted.text, self.wanted.language)]}
        parsed = json.loads(self._pandoc(READER, "json", self.wanted.text.encode()))
        notes = {int(number): note for number, note in self.wanted.notes.items()}
        return SafeDocument(notes, math_as_code).cleaned(parsed)

    def _html(self) -> bytes:
        document = self._document()
        options = ("--mathml", "--syntax-highlighting=none")
        body = self._pandoc("json", "html5", _written(document), *options).decode()
        title = html.escape(self.wanted.title or "Artifact")
        heading = f"<h1>{title}</h1>\n" if self._heading(document) else ""
        page = Template((PAGES / "page.html").read_text(encoding="utf-8"))
        return page.substitute(title=title, heading=heading, body=body).encode()

    def _pdf(self) -> bytes:
        if typst is None:
            raise WorkRefused(MISSING, "There is no typst for this platform.")
        if scripts := undrawn("".join([self.wanted.text, self.wanted.title or "", *self.wanted.notes.values()])):
            raise WorkRefused(FAILED, NO_LETTERS.format(scripts=", ".join(scripts)))
        try:
            return self._typeset(self._document())
        except typst.TypstError:  # a formula that typst cannot set is shown as typed
            try:
                return self._typeset(self._document(math_as_code=True))
            except typst.TypstError as error:
                raise WorkRefused(FAILED, "The text could not be typeset.") from error

    def _typeset(self, document: Node) -> bytes:
        source = (PAGES / "page.typ").read_bytes()
        source += self._pandoc("json", "typst", _written(document), "--syntax-highlighting=none")
        FOLDER.mkdir(exist_ok=True)
        main = FOLDER / "main.typ"
        main.write_bytes(source)
        inputs = {"title": self.wanted.title or "Artifact", "heading": self._heading(document)}
        return typst.compile(
            main,
            root=FOLDER,
            ignore_system_fonts=True,
            format="pdf",
            sys_inputs=inputs,
            timestamp=self.wanted.written_at,
        )

    def _heading(self, document: Node) -> str:
        """Returns the title if it is to be shown."""
        return "" if starts_with_heading(document) else self.wanted.title or ""

    def _pandoc(self, read: str, write: str, text: bytes, *options: str) -> bytes:
        command = [pandoc_program(), "--sandbox", "--from", read, "--to", write, "--output", "-", *options]
        heap = ["+RTS", f"-M{self.limits.memory_bytes * 3 // 4}", "-RTS"]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(self.wanted.written_at)}
        ended = subprocess.run([*command, *heap], input=text, capture_output=True, env=environment, check=False)
        full = ended.returncode == HEAP_EXHAUSTED or (ended.returncode and NO_MEMORY in ended.stderr)
        if full or ended.returncode < 0:
            raise WorkRefused(TOO_LARGE, "The text takes more memory or time than an export may.")
        if ended.returncode:
            raise WorkRefused(FAILED, "The text could not be converted.")
        return ended.stdout


def pandoc_program() -> str:
    """Returns the path of the program that comes with the package. Raises WorkRefused."""
    package = importlib.util.find_spec("pypandoc")
    for folder in (package and package.submodule_search_locations) or ():
        for name in ("pandoc", "pandoc.exe"):
            if (program := Path(folder, "files", name)).is_file():
                return str(program)
    raise WorkRefused(MISSING, "There is no pandoc for this platform.")


def _written(document: Node) -> bytes:
    return json.dumps(document).encode()
