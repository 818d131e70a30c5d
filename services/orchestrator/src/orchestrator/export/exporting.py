"""Exports a version of an artifact as a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import PurePath

from contracts.artifacts import ArtifactFormat, ArtifactKind, ArtifactView
from orchestrator.artifacts.file_names import file_name
from orchestrator.errors import ExportNotPossible, UnknownDocument
from orchestrator.export.child import ExportAssignment
from orchestrator.export.converter import DocumentConverter
from orchestrator.export.notes import notes, with_footnotes
from orchestrator.services import IngestionService
from service_kit.auth import Principal

TEXT = "text/plain; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"
CONVERTED = {
    ArtifactFormat.html: ("html", "text/html; charset=utf-8"),
    ArtifactFormat.docx: ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ArtifactFormat.pdf: ("pdf", "application/pdf"),
}
ORIGINAL = "application/octet-stream"
MEDIA_TYPES = [TEXT, MARKDOWN, ORIGINAL, *(media_type for _, media_type in CONVERTED.values())]


@dataclass(frozen=True)
class ExportedFile:
    """`body` is the whole file, or a stream of it."""

    name: str
    media_type: str
    body: bytes | AsyncIterator[bytes]


class ArtifactExporting:
    """Exports artifacts. Citations become notes, except in source files, which stay as they are."""

    def __init__(self, converter: DocumentConverter, ingestion: IngestionService) -> None:
        self.converter, self.ingestion = converter, ingestion

    async def export(self, caller: Principal, view: ArtifactView, wanted: ArtifactFormat) -> ExportedFile:
        """Raises what `DocumentConverter.convert` raises, ExportNotPossible, UnknownDocument, ServiceSilent."""
        is_pdf = view.kind is ArtifactKind.pdf
        if wanted is ArtifactFormat.source or (is_pdf and wanted is ArtifactFormat.pdf):
            return await self._original(caller, view, wanted) if is_pdf else _source(view)
        if wanted is ArtifactFormat.markdown:
            return ExportedFile(file_name(view, "md"), MARKDOWN, _markdown(view).encode())
        ending, media_type = CONVERTED[wanted]
        assignment = ExportAssignment(
            text=view.text,
            target=ending,
            title=view.title,
            is_code=view.kind is ArtifactKind.code,
            language=view.language,
            notes={str(number): note for number, note in notes(view.citations).items()},
            written_at=int(view.created_at.timestamp()),
            limits=asdict(self.converter.limits),
        )
        return ExportedFile(file_name(view, ending), media_type, await self.converter.convert(assignment))

    async def _original(self, caller: Principal, view: ArtifactView, wanted: ArtifactFormat) -> ExportedFile:
        """Opens the file that the artifact shows; it is closed once it has been read."""
        if view.document_id is None:
            raise UnknownDocument
        async with AsyncExitStack() as stack:
            answer = await stack.enter_async_context(self.ingestion.original(caller, view.document_id))
            if not answer.is_success:
                raise UnknownDocument
            parts = answer.aiter_bytes()
            first = await anext(parts, b"")
            if wanted is ArtifactFormat.pdf and not first.startswith(b"%PDF-"):
                raise ExportNotPossible("The document is not a PDF; --format source returns its file")
            ending = "pdf" if first.startswith(b"%PDF-") else PurePath(view.title or "").suffix.lstrip(".") or "bin"
            media_type = "application/pdf" if ending == "pdf" else ORIGINAL
            return ExportedFile(file_name(view, ending), media_type, _rest(first, parts, stack.pop_all()))


async def _rest(first: bytes, parts: AsyncIterator[bytes], opened: AsyncExitStack) -> AsyncIterator[bytes]:
    async with opened:
        yield first
        async for part in parts:
            yield part


def _source(view: ArtifactView) -> ExportedFile:
    media_type = TEXT if view.kind is ArtifactKind.code else MARKDOWN
    return ExportedFile(file_name(view), media_type, view.text.encode())


def _markdown(view: ArtifactView) -> str:
    if view.kind is not ArtifactKind.code:
        return with_footnotes(view.text, notes(view.citations))
    fence = "```"
    while fence in view.text:
        fence += "`"
    return f"{fence}{view.language or ''}\n{view.text.rstrip(chr(10))}\n{fence}\n"
