"""attractor ingest."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from starlette.responses import Response


class Library:
    """The server's files by content; those that contain `broken` fail, `.bin` and `blob` are refused."""

    def __init__(self, samples: Any, json: Any, problem: Any) -> None:
        self.samples, self.json, self.problem = samples, json, problem
        self.known: dict[bytes, int] = {}
        self.polls: Counter[int] = Counter()

    def upload(self, received: Any) -> Response:
        name = re.search(rb'filename="([^"]*)"', received.body)[1].decode()
        content = received.body.split(b"\r\n\r\n", 1)[1].rsplit(b"\r\n--", 2)[0]
        refusal = {"unsupported-format": name.endswith((".bin", "blob")), "empty-file": not content}
        for slug in (slug for slug, applies in refusal.items() if applies):
            files = [{"name": name, "error": slug, "message": f"{slug}!"}]
            return self.problem(422, "nothing-accepted", "None was accepted", files=files)
        created = content not in self.known
        number = self.known.setdefault(content, len(self.known) + 1)
        document = self.samples.document(number, name=name, status="processing" if created else "searchable")
        return self.json({"files": [{"name": name, "document": document, "created": created}]}, 202)

    def poll(self, received: Any) -> Response:
        number = UUID(received.path.rsplit("/", 1)[1]).int
        self.polls[number] += 1
        stage = self.samples.stage(name="convert")
        if self.polls[number] == 1:
            return self.json(self.samples.detail(number, status="processing", stages=[stage]))
        if b"broken" in list(self.known)[number - 1]:
            failed = stage | {"status": "failed", "error_message": "no PDF"}
            return self.json(self.samples.detail(number, status="failed", stages=[failed]))
        return self.json(self.samples.detail(number))


@pytest.fixture
def library(settled: Any, samples: Any, json: Any, problem: Any) -> Library:
    library = Library(samples, json, problem)
    settled.on("POST", "/v1/documents", library.upload)
    settled.on("GET", "/v1/documents/summary", samples.summary())
    for number in range(1, 60):
        settled.on("GET", f"/v1/documents/{UUID(int=number)}", library.poll)
    return library


def results(ran: Any) -> dict[str, str]:
    return {Path(one["path"]).name: one["result"] for one in ran.json["files"]}


def write(folder: Path, **files: str) -> None:
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)


@pytest.mark.usefixtures("library")
class TestIngest:
    def test_a_folder_is_ingested_until_it_is_searchable(self, settled, attractor, tmp_path: Path) -> None:
        write(tmp_path, a_md="one", b_md="two", same_md="one", x_bin="no", blob="no", empty_md="")
        ran = attractor("ingest", "-j", "1", str(tmp_path))
        assert ran.code == 0
        assert ran.out.startswith("2 searchable, 1 already known, 3 left out\n")
        assert "left out: unsupported format (2)" in ran.out
        sent = b"".join(one.body for one in settled.calls("POST", "/v1/documents"))
        assert (b"blob" in sent, b"x.bin" in sent) == (True, False)
        assert "\x1b" not in ran.out + ran.err

    def test_it_says_that_the_graph_is_incomplete(self, settled, samples, attractor, problem, tmp_path: Path) -> None:
        write(tmp_path, a_md="one")
        assert attractor("ingest", str(tmp_path)).err == ""
        settled.on("GET", "/v1/documents/summary", samples.summary(by_stage={"graph": 2}))
        ran = attractor("ingest", str(tmp_path))
        assert (ran.code, ran.out) == (0, "1 already known\n")
        assert ran.err == (
            "note: 2 documents are still being read into the graph: "
            "answers about dependencies, owners and counts may lack them\n"
        )
        settled.on("GET", "/v1/documents/summary", problem(500, "internal", "no"))
        ran = attractor("ingest", str(tmp_path), "--json")
        assert (ran.code, ran.json["counts"]) == (0, {"known": 1})
        assert ran.err.startswith("note: it is not known whether the graph has all documents")

    def test_a_broken_file_does_not_stop_the_others(self, attractor, tmp_path: Path) -> None:
        write(tmp_path, a_md="one", b_pdf="broken", c_md="three")
        ran = attractor("ingest", str(tmp_path), str(tmp_path / "none.md"), "--json")
        assert ran.code == 1
        assert results(ran) == {
            "a.md": "searchable",
            "b.pdf": "failed",
            "c.md": "searchable",
            "none.md": "failed",
        }
        [broken] = [one for one in ran.json["files"] if one["path"].endswith("b.pdf")]
        assert (broken["reason"], broken["message"]) == ("stage convert failed", "no PDF")
        assert ran.json["counts"] == {"searchable": 2, "failed": 2}

    def test_a_named_file_that_is_refused_counts_as_failed(self, attractor, tmp_path: Path) -> None:
        write(tmp_path, x_bin="no")
        ran = attractor("ingest", str(tmp_path / "x.bin"))
        assert (ran.code, "unsupported-format!" in ran.out) == (1, True)

    def test_ingest_can_return_without_waiting(self, attractor, library: Library, tmp_path: Path) -> None:
        write(tmp_path, a_md="one")
        assert attractor("ingest", "--no-wait", str(tmp_path)).out == "1 queued\n"
        assert not library.polls

    def test_ingest_reports_a_timeout(self, attractor, tmp_path: Path) -> None:
        write(tmp_path, a_md="one")
        ran = attractor("ingest", "--timeout", "0", str(tmp_path))
        assert (ran.code, "1 not searchable yet" in ran.out) == (1, True)

    def test_many_files_are_uploaded_with_bounded_concurrency(self, attractor, tmp_path: Path) -> None:
        for number in range(50):
            (tmp_path / f"{number}.md").write_text(f"text {number}")
        assert attractor("ingest", "-j", "8", str(tmp_path), "--json").json["counts"] == {"searchable": 50}

    def test_an_archive_is_reported_file_by_file(self, settled, samples, attractor, json, tmp_path: Path) -> None:
        (tmp_path / "all.zip").write_bytes(b"PK")
        files = [{"name": "all.zip/a.md", "document": samples.document(1), "created": True}]
        files += [{"name": "all.zip/film.mp4", "error": "unsupported-format", "message": "no"}]
        settled.on("POST", "/v1/documents", json({"files": files}, 202))
        ran = attractor("ingest", str(tmp_path / "all.zip"), "--json")
        assert (ran.code, results(ran)) == (0, {"a.md": "searchable", "film.mp4": "skipped"})

    def test_an_empty_folder_is_reported(self, attractor, tmp_path: Path) -> None:
        assert attractor("ingest", str(tmp_path)).out == "no files found\n"

    def test_an_unreadable_file_is_reported(self, attractor, tmp_path: Path, monkeypatch) -> None:
        write(tmp_path, a_md="one", b_md="two")
        real = Path.open

        def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
            if path.name == "a.md":
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *arguments, **options)

        monkeypatch.setattr(Path, "open", refuse)
        ran = attractor("ingest", str(tmp_path))
        assert ran.code == 1
        assert re.search(r"failed: cannot be read \(1\)\n  .*a\.md: Permission denied", ran.out)
        assert "1 searchable" in ran.out


class TestServerTrouble:
    def test_an_unreachable_server_is_reported(self, attractor, nowhere: str, tmp_path: Path) -> None:
        ran = attractor("--url", nowhere, "ingest", str(tmp_path))
        assert (ran.code, ran.out, ran.err.count("\n")) == (5, "", 1)

    def test_a_key_without_permission_ends_the_batch(self, settled, attractor, problem, tmp_path: Path) -> None:
        for number in range(30):
            (tmp_path / f"{number}.md").write_text(f"text {number}")
        settled.on("POST", "/v1/documents", problem(403, "forbidden", "The role does not allow it"))
        ran = attractor("ingest", "-j", "2", str(tmp_path))
        assert (ran.code, "not tried" in ran.out) == (3, True)
        assert len(settled.calls("POST", "/v1/documents")) <= 2

    def test_a_server_that_keeps_failing_ends_the_batch(self, settled, attractor, problem, tmp_path: Path) -> None:
        for number in range(30):
            (tmp_path / f"{number}.md").write_text(f"text {number}")
        settled.on("POST", "/v1/documents", problem(507, "storage-full", "No space left"))
        ran = attractor("ingest", "-j", "1", str(tmp_path))
        assert (ran.code, "5 failed, 25 not tried" in ran.out) == (1, True)
        assert "No space left" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX names")
def test_a_file_name_cannot_control_the_terminal(library: Library, attractor, tmp_path: Path) -> None:  # noqa: ARG001
    (tmp_path / "a\x1b[31m.bin").write_text("x")
    assert "\x1b" not in attractor("ingest", str(tmp_path)).out
