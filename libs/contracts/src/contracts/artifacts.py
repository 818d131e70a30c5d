"""The artifact of a session: a text that people and runs write together, with all of its versions.

Offsets are Unicode code points, as Python counts them; line endings are preserved.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from contracts.base import Name, Request, Resource, storable
from contracts.orchestrator import Citation

ARTIFACT_DOCUMENTS_PATH = "/internal/artifact-documents"  # where the orchestrator passes them to ingestion
MOST_CHARACTERS = 500_000
MOST_EDITS = 100

ArtifactText = Annotated[str, StringConstraints(max_length=MOST_CHARACTERS), AfterValidator(storable)]
Language = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+#._-]{1,40}$")]
VersionIndex = Annotated[int, Field(ge=1, le=2_000_000_000)]
Offset = Annotated[int, Field(ge=0, le=MOST_CHARACTERS)]


class ArtifactKind(StrEnum):
    """`pdf`: the text of a document of the workspace, which can be read and compared, but not changed."""

    markdown = "markdown"
    code = "code"
    pdf = "pdf"


class ArtifactFormat(StrEnum):
    """An export format. `source` is the text as it is, or for a PDF the uploaded file."""

    markdown = "markdown"
    html = "html"
    docx = "docx"
    pdf = "pdf"
    source = "source"


class ArtifactEvent(StrEnum):
    """How a version came to be: `update` by edits or by hand, `rewrite` as a whole, `patch` of one span, `restore`."""

    create = "create"
    update = "update"
    rewrite = "rewrite"
    patch = "patch"
    restore = "restore"


class ArtifactOutcome(StrEnum):
    """What became of a run's version.

    `merged`: people had changed other places meanwhile, and both changes are in it. `kept_aside`: it was cut short, or
    they had changed the same place; it can be read and restored, but is not current. `gone`: the artifact was deleted
    in the meantime, and stays deleted.
    """

    current = "current"
    merged = "merged"
    kept_aside = "kept_aside"
    gone = "gone"


class ArtifactVersion(Resource):
    """One version, without its text. `parent_index` is the version it was made from, which undo returns to.

    `run_id` and `message_id` name the run and the answer that made it, unless a person did.
    """

    artifact_id: UUID
    index: int
    parent_index: int | None
    event: ArtifactEvent
    kind: ArtifactKind
    language: str | None
    title: str | None
    characters: int
    kept_aside: bool
    created_by: UUID
    run_id: UUID | None
    message_id: UUID | None
    created_at: datetime


class ArtifactView(Resource):
    """A version of an artifact with its text; `index` is its own number, `current_index` the current version's.

    `version` increases with every change, including undo and redo; use it in If-Match. `document_id` is the document
    that an artifact of kind `pdf` shows. `indexed_document_id` and `indexed_index` name the document made from a
    version for search, if there is one, and that version.
    """

    id: UUID
    session_id: UUID
    version: int
    kind: ArtifactKind
    language: str | None
    title: str | None
    index: int
    current_index: int
    last_index: int
    parent_index: int | None
    event: ArtifactEvent
    kept_aside: bool
    created_by: UUID
    run_id: UUID | None
    message_id: UUID | None
    document_id: UUID | None
    indexed_document_id: UUID | None = None
    indexed_index: int | None = None
    text: str
    citations: list[Citation] = []
    created_at: datetime
    updated_at: datetime


class ArtifactPut(Request):
    """The whole text, written by hand. With kind `pdf` it has `document_id` instead, a document of the workspace."""

    kind: ArtifactKind = ArtifactKind.markdown
    language: Language | None = None
    title: Name | None = None
    text: ArtifactText = ""
    document_id: UUID | None = None

    @model_validator(mode="after")
    def _kind_fits(self) -> ArtifactPut:
        if (self.kind is ArtifactKind.pdf) != (self.document_id is not None):
            raise ValueError("document_id is for the kind pdf, and needed there")
        if self.kind is ArtifactKind.pdf and self.text:
            raise ValueError("the text of a pdf is that of its document")
        if self.language is not None and self.kind is not ArtifactKind.code:
            raise ValueError("only code has a language")
        return self


class ArtifactSpan(Request):
    """Characters `start` to `end` of version `index`, and the text as it was seen there."""

    index: VersionIndex
    start: Offset
    end: Offset
    seen: ArtifactText

    @model_validator(mode="after")
    def _is_a_span(self) -> ArtifactSpan:
        if self.end - self.start != len(self.seen):
            raise ValueError("end - start is not the length of what was seen, in Unicode code points")
        return self


class ArtifactEdit(Request):
    """Replaces `find`, which must occur exactly once."""

    find: Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(storable)]
    replace: ArtifactText


class ArtifactPatch(Request):
    """Either `span` with its `replacement`, or `edits`, each of which finds its place in the current text; or a title.

    A span is still found if others have changed other places since.
    """

    span: ArtifactSpan | None = None
    replacement: ArtifactText | None = None
    edits: Annotated[list[ArtifactEdit], Field(min_length=1, max_length=MOST_EDITS)] | None = None
    title: Name | None = None

    @model_validator(mode="after")
    def _changes_one_thing(self) -> ArtifactPatch:
        if (self.span is None) != (self.replacement is None):
            raise ValueError("span and replacement come together")
        if self.span is not None and self.edits is not None:
            raise ValueError("either a span or edits")
        if self.span is None and self.edits is None and self.title is None:
            raise ValueError("nothing to change")
        return self


class ArtifactRestore(Request):
    """Creates a new version with the text of version `index`."""

    index: VersionIndex


class ArtifactDiff(Resource):
    """The difference between two versions, as a unified diff; empty if there is none."""

    from_index: int
    to_index: int
    added_lines: int
    removed_lines: int
    unified: str


class ArtifactReceipt(Resource):
    """What was deleted with an artifact, by kind, and what is left afterwards (0 proves the deletion)."""

    artifact_id: UUID
    removed: dict[str, int]
    remaining: dict[str, int]


class IndexedArtifact(Resource):
    """The document made from a version of an artifact; it is searchable once ingestion has indexed it."""

    artifact_id: UUID
    index: int
    document_id: UUID
    version: int
