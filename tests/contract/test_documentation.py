"""The pages match the repository: links, anchors, lengths, and every command and route that they name."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from contract.generated import MERGED

from attractor_client.cli import app

ROOT = Path(__file__).parents[2]
LONGEST_README = 100
DATA = ("infra/examples/", "/prompts/", "/tests/", "/stop_words/", ".github/")
SOURCES = ("compose*.yaml", ".env.example", "Makefile", "conftest.py", "infra/**/*.py", "libs/*/src/**/*.py",
           "libs/*/src/**/*.sql", "services/*/src/**/*.py", "services/*/src/**/*.txt", "tests/**/*.py")  # fmt: skip
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def pages() -> list[Path]:
    """Returns every page meant for readers: neither prompts nor example documents."""
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in files.stdout.splitlines() if not any(part in f"/{name}" for part in DATA)]
    return [ROOT / name for name in names if (ROOT / name).exists()]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def anchors(page: Path) -> frozenset[str]:
    """Returns the fragments of a page's headings, as GitHub and the site build them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading).strip().lower() for heading in headings]
    return frozenset(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain)


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_relative_link_and_anchor_exists(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        if not place.exists() or (anchor and place.suffix == ".md" and anchor not in anchors(place)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", [page for page in pages() if page.name == "README.md"], ids=name)
def test_every_readme_is_short(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST_README
    assert not [line for line in lines if re.match(r"\s*- \[[ x]\]", line)], "no checklists"


def commands(*languages: str) -> Iterator[tuple[Path, str]]:
    """Yields (page, line) for each line of the code blocks in these languages; continued lines are joined."""
    for page in pages():
        for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
            if language in languages:
                for line in block.replace("\\\n", " ").splitlines():
                    yield page, line.removeprefix("$ ")


def attractor_lines() -> list[tuple[str, str]]:
    found = []
    for page, line in commands("sh", "console", "yaml"):
        for match in re.finditer(r"(?:^|\(|\| |run: )attractor +([^|)]*)", line):
            found.append((name(page), match[1]))
    return found


def attractor_in_sentences() -> list[tuple[str, str]]:
    """Returns (page, command) for each `attractor a|b` in the text, one per alternative of its last word."""
    found = []
    for page in pages():
        if page.name == "CHANGELOG.md":  # it may name removed commands
            continue
        text = FENCE.sub("", page.read_text(encoding="utf-8")).replace("\\|", "|")
        for line in re.findall(r"`attractor ([a-z][^`\n]*)`", text):
            words = re.match(r"[a-z][a-z0-9|-]*(?: [a-z][a-z0-9|-]*)*", line)[0].split()
            found += [(name(page), " ".join([*words[:-1], word])) for word in words[-1].split("|")]
    return sorted(set(found))


@cache
def attractor() -> Any:
    return typer.main.get_command(app)


def every_option(command: Any) -> Iterator[str]:
    for one in command.params:
        yield from (*one.opts, *one.secondary_opts)
    for below in getattr(command, "commands", {}).values():
        yield from every_option(below)


def test_every_option_in_the_table_of_commands_exists() -> None:
    text = (ROOT / "libs/client/README.md").read_text(encoding="utf-8")
    known = {"--help", *every_option(attractor())}
    assert set(re.findall(r"(?<=[` ])--[a-z][a-z-]*", FENCE.sub("", text))) - known == set()


@pytest.mark.parametrize(("page", "line"), [*attractor_lines(), *attractor_in_sentences()], ids=lambda value: value)
def test_every_documented_command_and_option_of_attractor_exists(page: str, line: str) -> None:
    command = attractor()
    options = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    for word in shlex.split(line, comments=True):
        if hasattr(command, "commands") and not word.startswith("-"):
            assert word in command.commands, f"{page}: attractor {line}: there is no command {word!r}"
            command = command.commands[word]
            options |= {text for one in command.params for text in (*one.opts, *one.secondary_opts)}
        elif re.match(r"--?[a-z]", word):
            option = word.partition("=")[0]
            assert option in options, f"{page}: attractor {line}: there is no option {option}"


def test_every_make_target_in_the_documentation_exists() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = [(page, re.findall(r"^make ([a-z][a-z-]*)", line)) for page, line in commands("sh", "console")]
    named += [(page, re.findall(r"`make ([a-z][a-z-]*)", page.read_text(encoding="utf-8"))) for page in pages()]
    assert {(name(page), target) for page, found in named for target in found if target not in targets} == set()


def test_every_route_in_an_example_exists() -> None:
    document = json.loads(MERGED.read_text(encoding="utf-8"))
    forms = [re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))) for path in document["paths"]]
    unknown = []
    for page, line in commands("sh", "console"):
        for path in re.findall(r"\$\{?ATTRACTOR_URL\}?(/v1/[^\s\"'?)]*)", line):
            if not any(form.fullmatch(path.rstrip("/")) for form in forms):
                unknown.append((name(page), path))
    assert unknown == []


def test_every_documented_variable_exists() -> None:
    """Looks in code and configuration; the changelog may name removed variables."""
    paths = [path for pattern in SOURCES for path in ROOT.glob(pattern)]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    known = {"FORWARDED_ALLOW_IPS"}  # uvicorn reads it
    known |= set(re.findall(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", sources))
    known |= {word.upper() for word in re.findall(r"^    ([a-z][a-z0-9]*(?:_[a-z0-9]+)+):", sources, re.MULTILINE)}
    named = {
        (name(page), variable)
        for page in pages()
        if page.name != "CHANGELOG.md"
        for variable in re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`", page.read_text(encoding="utf-8"))
    }
    assert {(page, variable) for page, variable in named if variable not in known} == set()


def attacks() -> Iterator[tuple[str, str]]:
    """Yields each attack of the threat model with the cell that names its tests."""
    for line in (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0] != "attack" and not cells[0].startswith("---"):
            yield cells[0], cells[2]


def test_every_attack_in_the_threat_model_links_to_its_tests() -> None:
    found = dict(attacks())
    assert len(found) > 25
    for attack, tests in found.items():
        links = [ROOT / "docs" / link for link in LINK.findall(tests)]
        assert links or "`make check`" in tests, attack
        for link in links:
            assert re.search(r"^\s*(async )?def test_", link.read_text(encoding="utf-8"), re.MULTILINE), (attack, link)


def test_every_documented_command_of_a_service_exists() -> None:
    named = {
        (name(page), package, command)
        for page, line in commands("sh", "console")
        for package, command in re.findall(r"python -m (\w+) ([a-z-]+)", line)
    }
    for page, package, command in named:
        folder = ROOT / "services" / package.replace("_", "-") / "src" / package
        text = (folder / "__main__.py").read_text(encoding="utf-8")
        text += (ROOT / "libs/service-kit/src/service_kit/command.py").read_text(encoding="utf-8")
        assert re.search(rf"\b{command.replace('-', '[-_]')}\b", text), f"{page}: python -m {package} {command}"


def test_the_reference_pages_are_up_to_date() -> None:
    """Runs in a separate process, because imports of other tests would appear on the pages."""
    check = [sys.executable, "-m", "contract.generate", "--check"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    ran = subprocess.run(check, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
