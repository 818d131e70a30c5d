"""Artifacts as files, written by the real pandoc and the real typst."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import docx
import pypdfium2
import pytest
from psycopg.types.json import Jsonb

from orchestrator.errors import ExportFailed, ExportTooLarge, ExportTooSlow
from orchestrator.export.child import ExportAssignment
from orchestrator.export.converter import DocumentConverter
from orchestrator.export.limits import ExportLimits
from orchestrator.export.scripts import undrawn
from service_kit.postgres import Database

STRINGS = "shared/eval/naughty-strings/blns.json"
NAUGHTY = next((folder / STRINGS for folder in Path(__file__).parents if (folder / STRINGS).exists()), None)
SECRET = Path("/etc/passwd")
SECRET_LINE = SECRET.read_text().splitlines()[0]
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
REPORT = """# Outage of UserDB

Tokens expire after fifteen minutes [1]. Both say so [1, 2]. Unknown [7].

## What was lost

| Service | Minutes |
|---|--:|
| Auth | 12 |
| Billing | 30 |

- first **point**
- second

1. one
2. two

```python
print("[1]")
```
"""


def citation(number: int, **more: Any) -> dict[str, Any]:
    made = {
        "number": number,
        "chunk_id": f"c{number}",
        "document_id": str(UUID(int=number)),
        "document_name": f"file{number}.pdf",
        "document_title": f"Source {number}",
        "section": None,
        "page": 3,
        "line_start": None,
        "line_end": None,
        "quote": f"Quoted words {number}.",
        "start": 0,
        "end": 5,
    }
    return made | more


async def written(service: Any, text: str = REPORT, **more: Any) -> str:
    """Returns the path of a new session's artifact."""
    path = f"/v1/sessions/{await service.session()}/artifact"
    made = await service.client.put(path, json={"title": "Outage / of UserDB", "text": text, **more})
    assert made.status_code == 201, made.text
    return path


@pytest.fixture
def cite(settings: Any, principal: Any) -> Any:
    """await cite(...): all versions have these citations, as those of runs have."""

    async def use(*citations: dict[str, Any]) -> None:
        async with (
            Database(settings.database_url.get_secret_value()).opened() as database,
            database.workspace(principal.workspace_id) as connection,
        ):
            changed = await connection.execute("UPDATE artifact_version SET citations = %s", [Jsonb(list(citations))])
            assert changed.rowcount == 1

    return use


@pytest.fixture
async def converter() -> AsyncIterator[DocumentConverter]:
    made = DocumentConverter(ExportLimits(), 2)
    yield made
    await made.aclose()


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """Yields a server that must not receive any connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def assignment(text: str, target: str, **more: Any) -> ExportAssignment:
    made: dict[str, Any] = {
        "text": text,
        "target": target,
        "title": None,
        "is_code": False,
        "language": None,
        "notes": {},
        "written_at": 1_700_000_000,
        "limits": asdict(ExportLimits()),
    }
    return ExportAssignment(**(made | more))


def text_of(content: bytes) -> str:
    """Returns the text of a PDF."""
    pages = pypdfium2.PdfDocument(content)
    return "\n".join(page.get_textpage().get_text_range().replace("\r\n", "\n") for page in pages)


def all_text(content: bytes, target: str) -> str:
    if target == "pdf":
        return text_of(content)
    if target == "docx":
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            return "".join(parts.read(name).decode() for name in parts.namelist() if name.endswith((".xml", ".rels")))
    return content.decode()


async def exported(service: Any, path: str, **params: Any) -> Any:
    answer = await service.client.get(f"{path}/export", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    return answer


async def test_a_docx_has_headings_table_lists_and_footnotes(start: Any, settings: Any, cite: Any) -> None:
    async with start(settings) as service:
        path = await written(service)
        await cite(citation(1), citation(2, page=None, quote=""))
        answer = await exported(service, path, format="docx")
    assert answer.headers["content-type"] == DOCX
    assert answer.headers["content-disposition"] == 'attachment; filename="Outage-of-UserDB.docx"'
    document = docx.Document(io.BytesIO(answer.content))
    found = [(one.style.name if one.style else "", one.text) for one in document.paragraphs]
    assert ("Heading 1", "Outage of UserDB") in found
    assert ("Heading 2", "What was lost") in found
    assert any(text == "Tokens expire after fifteen minutes. Both say so,. Unknown [7]." for _, text in found)
    assert ("Source Code", 'print("[1]")') in found
    cells = [[cell.text for cell in row.cells] for row in document.tables[0].rows]
    assert cells == [["Service", "Minutes"], ["Auth", "12"], ["Billing", "30"]]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as parts:
        notes, body = parts.read("word/footnotes.xml").decode(), parts.read("word/document.xml").decode()
    assert notes.count("Source 1, page 3: “Quoted words 1.”") == 2
    assert notes.count("Source 2<") == 1
    assert (body.count("footnoteReference w:id"), body.count("<w:numPr>")) == (3, 4)


async def test_a_pdf_has_headings_table_lists_and_footnotes(start: Any, settings: Any, cite: Any) -> None:
    async with start(settings) as service:
        path = await written(service)
        await cite(citation(1), citation(2, page=None, quote=""))
        answer = await exported(service, path, format="pdf")
    assert answer.headers["content-type"] == "application/pdf"
    lines = text_of(answer.content).split("\n")
    assert lines[0] == "Outage of UserDB"
    assert {"What was lost", "Service Minutes", "Billing 30", "• second", "2. two", 'print("[1]")'} <= set(lines)
    assert sum("Source 1, page 3: “Quoted words 1.”" in line for line in lines) == 2
    assert any(line.endswith("Source 2") for line in lines)


async def test_html_has_footnotes_and_loads_no_external_resources(start: Any, settings: Any, cite: Any) -> None:
    async with start(settings) as service:
        path = await written(service, REPORT + "\n<script>alert(1)</script>\n\n![logo](https://example.org/a.png)\n")
        await cite(citation(1))
        answer = await exported(service, path, format="html")
    page = answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert "<title>Outage / of UserDB</title>" in page
    assert page.count("<h1") == 1  # the text has its own
    assert page.count('role="doc-noteref"') == 1
    assert "Source 1, page 3: “Quoted words 1.”" in page
    assert "<script" not in page
    assert "<img" not in page
    assert '<a href="https://example.org/a.png">logo</a>' in page


async def test_markdown_has_footnotes_and_the_source_is_unchanged(start: Any, settings: Any, cite: Any) -> None:
    async with start(settings) as service:
        path = await written(service)
        await cite(citation(1), citation(2))
        markdown = await exported(service, path)
        source = await exported(service, path, format="source")
    assert markdown.headers["content-disposition"] == 'attachment; filename="Outage-of-UserDB.md"'
    assert "fifteen minutes [^source-1]. Both say so [^source-1][^source-2]. Unknown [7]." in markdown.text
    assert "[^source-2]: Source 2, page 3: “Quoted words 2.”\n" in markdown.text
    assert 'print("[1]")' in markdown.text
    assert source.text == REPORT


async def test_code_is_exported_as_a_block_and_as_a_source_file(start: Any, settings: Any) -> None:
    code = 'x = "[1] #read(\\"/etc/passwd\\") ```"\r\n'
    async with start(settings) as service:
        path = await written(service, code, kind="code", language="python")
        source = await exported(service, path, format="source")
        markdown = await exported(service, path, format="markdown")
        files = {target: (await exported(service, path, format=target)).content for target in ("html", "docx", "pdf")}
    assert source.content == code.encode()
    assert source.headers["content-disposition"].endswith('.py"')
    assert markdown.text.startswith("````python\n")
    assert '#read("\\"/etc/passwd' not in text_of(files["pdf"])
    assert "/etc/passwd" in text_of(files["pdf"])
    assert "Outage / of UserDB" in text_of(files["pdf"])  # the title, as the text has no heading
    assert next(one.text for one in docx.Document(io.BytesIO(files["docx"])).paragraphs) == "Outage / of UserDB"
    assert b'<pre class="python">' in files["html"]


async def test_a_specific_version_can_be_exported(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path = await written(service, "First.\n")
        await service.client.put(path, json={"title": "Plan", "text": "Second.\n"})
        first = await exported(service, path, format="source", index=1)
        now = await exported(service, path, format="source")
        missing = await service.client.get(f"{path}/export", params={"index": 9})
        bad = await service.client.get(f"{path}/export", params={"format": "odt"})
    assert (first.text, now.text) == ("First.\n", "Second.\n")
    assert (missing.status_code, missing.json()["type"]) == (404, "artifact-version-not-found")
    assert (bad.status_code, bad.json()["type"]) == (422, "invalid-request")


async def test_a_referenced_pdf_is_exported_as_its_file_and_as_its_text(start: Any, settings: Any, world: Any) -> None:
    document = {"kind": "pdf", "document_id": str(UUID(int=9))}
    async with start(settings) as service:
        path = await written(service, "", **document)
        pdf = await exported(service, path, format="pdf")
        source = await exported(service, path, format="source")
        markdown = await exported(service, path, format="markdown")
        world.original = b"PK of another format"
        refused = await service.client.get(f"{path}/export", params={"format": "pdf"})
        world.document_status = 404
        gone = await service.client.get(f"{path}/export", params={"format": "source"})
        world.document_status = 500
        away = await service.client.get(f"{path}/export", params={"format": "source"})
    assert pdf.content == source.content == b"%PDF-1.7 of a document"
    assert pdf.headers["content-disposition"].endswith('.pdf"')
    assert "AuthService" in markdown.text
    assert (refused.status_code, refused.json()["type"]) == (409, "export-not-possible")
    assert (gone.status_code, gone.json()["type"]) == (404, "document-not-found")
    assert away.status_code == 503


async def test_only_the_user_of_a_session_can_export_its_artifact(start: Any, settings: Any, auth_headers: Any) -> None:
    async with start(settings) as service:
        path = await written(service)
        strangers = (auth_headers(user_id=uuid4()), auth_headers(workspace_id=uuid4()))
        for headers in strangers:
            for target in ("docx", "source"):
                answer = await service.client.get(f"{path}/export", params={"format": target}, headers=headers)
                assert (answer.status_code, answer.json()["type"]) == (404, "session-not-found")


@pytest.mark.parametrize("target", ["html", "docx", "pdf"])
async def test_hostile_text_reads_no_file_and_opens_no_connection(
    converter: DocumentConverter, listening: socket.socket, target: str
) -> None:
    place = f"http://127.0.0.1:{listening.getsockname()[1]}"
    text = f"""<img src="{place}/a.png"><script src="{place}/b.js"></script>

<iframe src="{place}/c"></iframe>

![x]({place}/d.png) ![y](file://{SECRET}) ![z]({SECRET}) ![w](../../../..{SECRET})

\\input{{{SECRET}}} $\\input{{{SECRET}}}$ $$\\include{{{SECRET}}}$$ $\\text{{#read("{SECRET}")}}$ $"#read("{SECRET}")$

#read("{SECRET}") #import "{SECRET}": * #include "{SECRET}" #eval("1") ] #image("{SECRET}") \\#read("{SECRET}")

```
``` #read("{SECRET}")

```{{=typst}}
#read("{SECRET}")
```

`#read("{SECRET}")`{{=typst}} [t]{{typst:fill="read(\\"{SECRET}\\")"}} {{{{#include "{SECRET}"}}}}

#import "@preview/cetz:0.1.0"

---
header-includes: <script>alert(1)</script>
---

| a |
|---|
| #read("{SECRET}") ] |

[link](javascript:alert(1)) [link]({place}) <b onclick="x">bold</b> [text](#missing) "quotes" \\" \\\\
"""
    content = await converter.convert(assignment(text, target, title='"#read("/etc/passwd")<script>$body{{body}}'))
    found = all_text(content, target)
    assert SECRET_LINE not in found
    if target == "html":
        assert not any(mark in found for mark in ("<script", "<img", "<iframe", "<b ", 'href="javascript', "file://"))
    if target == "docx":
        assert "media/" not in found
        assert 'Target="file' not in found


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("target", ["html", "docx", "pdf"])
async def test_naughty_strings_are_treated_as_text(converter: DocumentConverter, target: str) -> None:
    if NAUGHTY is None:
        pytest.skip(f"{STRINGS} is not there")
    strings = [text for text in json.loads(NAUGHTY.read_text("utf-8")) if "\x00" not in text]
    strings = [text for text in strings if target != "pdf" or not undrawn(text)]
    together = await converter.convert(assignment("\n\n".join(strings), target))
    assert all_text(together, target)
    quoted = "\n".join(f"| {text.replace(chr(10), ' ')} |\n" for text in strings)
    for text in (quoted, *strings[:: len(strings) // 20]):
        assert await converter.convert(assignment(text, target, title=text[:100]))


async def test_a_pdf_renders_many_scripts_and_refuses_characters_without_a_glyph(
    converter: DocumentConverter,
) -> None:
    many = "Größe zażółć gęślą jaźń Ελληνικά Привет"
    assert many in all_text(await converter.convert(assignment(many, "pdf")), "pdf")
    with pytest.raises(ExportFailed, match="no letters for: Chinese characters, Hangul, Hiragana"):
        await converter.convert(assignment(f"{many} 中文 かな 한국어", "pdf"))


@pytest.mark.parametrize("target", ["html", "docx", "pdf"])
async def test_formulas_are_typeset_or_shown_as_typed(converter: DocumentConverter, target: str) -> None:
    text = "$x^2 + \\frac{1}{y}$ and $\\notamacro{q}$ cost $5 and $6\n\n$$\\sum_{i=0}^n i$$\n"
    found = all_text(await converter.convert(assignment(text, target)), target)
    assert "notamacro" in found
    assert "$5 and $6" in found.replace("&#36;", "$")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a table of 10 MB", "|a|b|\n|-|-|\n" + "| cell | cell |\n" * 700_000),
        ("deep quotes", ">" * 20_000 + "a"),
        ("deep lists", "\n".join("  " * depth + "- a" for depth in range(600))),
    ],
)
@pytest.mark.parametrize("target", ["html", "docx", "pdf"])
async def test_an_artifact_that_is_too_large_is_refused_with_a_named_error(
    converter: DocumentConverter, name: str, text: str, target: str
) -> None:
    with pytest.raises(ExportTooLarge):
        await converter.convert(assignment(text, target))
    assert await converter.convert(assignment("It goes on.", target)), name


async def test_an_export_that_needs_too_much_time_or_memory_is_refused_with_a_named_error() -> None:
    late = DocumentConverter(ExportLimits(seconds=0.0), 1)
    with pytest.raises(ExportTooSlow):
        await late.convert(assignment("a", "html", limits=asdict(late.limits)))
    await late.aclose()
    small = DocumentConverter(ExportLimits(output_bytes=500), 1)
    with pytest.raises(ExportTooLarge):
        await small.convert(assignment("a", "html", limits=asdict(small.limits)))
    with pytest.raises(ExportFailed):
        await small.convert(assignment("a", "html", limits=asdict(ExportLimits())))  # more than was agreed
    await small.aclose()
    long = {"1": "word " * 100}
    narrow = DocumentConverter(ExportLimits(memory_bytes=96 << 20), 1)
    with pytest.raises(ExportTooLarge):
        await narrow.convert(assignment("[1]" * 100_000, "docx", notes=long, limits=asdict(narrow.limits)))
    await narrow.aclose()


async def test_exports_run_one_at_a_time_and_the_same_text_gives_the_same_file(converter: DocumentConverter) -> None:
    made = await asyncio.gather(*(converter.convert(assignment(REPORT, "pdf")) for _ in range(6)))
    assert len(set(made)) == 1


async def test_without_the_external_programs_other_formats_still_work(
    start: Any, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for package in ("pypandoc", "typst"):
        (tmp_path / f"{package}.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with start(settings) as service:
        path = await written(service)
        for target in ("html", "docx", "pdf"):
            refused = await service.client.get(f"{path}/export", params={"format": target})
            assert (refused.status_code, refused.json()["type"]) == (503, "export-tool-missing")
        assert (await exported(service, path, format="markdown")).text == REPORT
