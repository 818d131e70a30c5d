"""Documented settings match the code; `docs/reference/settings.md` is generated from the classes."""

from __future__ import annotations

import re

from api_calls import REPOSITORY

TITLE = re.compile(r"^## (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]*)` \| ([^|]*?) \|", re.MULTILINE)
GUIDE = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")
REFERENCE = (REPOSITORY / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
# Read by what starts the services: Compose, the embedded stack, Neo4j's own image.
OF_THE_DEPLOYMENT = {"GATEWAY_PORT", "GATEWAY_BIND", "GATEWAY_HOST", "ATTRACTOR_DATA"} | {
    "DOCUMENTS_FOLDER",
    "DOCUMENTS_WORKSPACES",
    "BACKUP_FOLDER",
    "RETRIEVAL_PROCESSES",
}
# Read by the library that watches folders.
OF_A_LIBRARY = {"WATCH_POLLING"}
ELSEWHERE = OF_THE_DEPLOYMENT | OF_A_LIBRARY


def reference() -> dict[str, dict[str, str]]:
    """Returns the defaults in the reference, by title and variable."""
    _, *parts = TITLE.split(REFERENCE)
    return {title: dict(ROW.findall(text)) for title, text in zip(parts[::2], parts[1::2], strict=True)}


def defaults() -> dict[str, set[str]]:
    """Returns the defaults of each variable, over all processes."""
    found: dict[str, set[str]] = {}
    for table in reference().values():
        for variable, default in table.items():
            found.setdefault(variable, set()).add(plain(default))
    return found


def plain(default: str) -> str:
    return default.strip("` ").replace("(Compose: ./tokenizers)", "").strip("` ").lower()


def guide() -> list[tuple[str, str]]:
    """Returns (variable, default) for each row of the guide's first table."""
    table = GUIDE.partition("## What most people set")[2].partition("\n## ")[0]
    found = []
    for variables, default in re.findall(r"^\| (`[^|]*) \| ([^|]*?) \|", table, re.MULTILINE):
        names = re.findall(r"`([A-Z][A-Z0-9_]*)`", variables)
        values = re.sub(r"\(.*?\)", "", default).split(", ")
        found += zip(names, values if len(values) == len(names) else values * len(names), strict=False)
    return found


def test_the_guide_states_the_defaults_in_the_code() -> None:
    known = defaults()
    documented = [(name, plain(value)) for name, value in guide() if name not in ELSEWHERE | {"SOURCE_ROOTS"}]
    assert len(documented) > 30
    assert {name: (value, known.get(name)) for name, value in documented if value not in known.get(name, set())} == {}


def test_every_variable_in_the_guide_exists() -> None:
    written = set(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]*)`", GUIDE))
    client = {"ATTRACTOR_URL", "ATTRACTOR_API_KEY"}
    assert {name for name in written if not name.endswith("_")} - set(defaults()) - ELSEWHERE - client == set()


def test_no_two_services_share_a_default_port() -> None:
    ports = {title: table["PORT"] for title, table in reference().items() if table.get("PORT", "").isdecimal()}
    assert len(ports) >= 3
    assert len(set(ports.values())) == len(ports), ports
