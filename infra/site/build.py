#!/usr/bin/env python3
"""Builds the documentation site from the repository's pages into build/site; fails on a broken link or anchor.

The pages link to each other as files of the repository. This script copies them into one folder and rewrites their
links. A link to a file that is not a page (code, generated documents) becomes plain text.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s:]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def pages() -> dict[Path, str]:
    """Returns the repository's pages by file, with their paths on the site."""
    found = {path: path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    for folder in ("libs", "services", "infra"):
        found |= {path: f"{path.parent.relative_to(ROOT)}.md" for path in (ROOT / folder).glob("*/README.md")}
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        found[ROOT / name] = name.lower()
    found[ROOT / "README.md"] = "index.md"
    return found


def rewritten(text: str, page: Path, places: dict[Path, str]) -> str:
    """Returns the page with links rewritten to the site; code blocks stay unchanged."""
    depth = places[page].count("/")

    def target(match: re.Match[str]) -> str:
        label, link = match[1], match[2]
        path, _, anchor = link.partition("#")
        if not path:
            return match[0]
        file = (page.parent / path).resolve()
        if file not in places and (ROOT / "docs" not in file.parents or file.exists()):
            return label
        place = places.get(file, link)
        return f"[{label}]({'../' * depth}{place}{'#' + anchor if anchor else ''})"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(target, part) for part in parts)


def main() -> int:
    shutil.rmtree(BUILD / "pages", ignore_errors=True)
    places = pages()
    for page, place in places.items():
        copy = BUILD / "pages" / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(rewritten(page.read_text(encoding="utf-8"), page, places), encoding="utf-8")
    shutil.copy(ROOT / "infra/site/zensical.toml", BUILD)
    zensical = Path(sys.executable).with_name("zensical")
    command = [str(zensical), "build", "--strict", "--clean", "--config-file", str(BUILD / "zensical.toml")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr.partition("Traceback")[0])
        return 1
    sys.stdout.write(f"the site is in {BUILD / 'site'}: open index.html\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
