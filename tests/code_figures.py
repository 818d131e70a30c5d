"""Figures of the code, as one table: `python tests/code_figures.py [CHECKOUT ...]`. Standard library only.

A *room* is a direct member of a package: a folder with everything below it, or a module. *Floors* is the longest chain
of imports between the rooms of a package; a *circle* is a set of two or more rooms that import each other cyclically.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PREPOSITIONS = re.compile(
    r"(?:of|by|in|with|without|for|from|to|at|on|as|under|over|beside|besides|between|among|after|before|until|"
    r"above|below|beyond|per|within|instead|out|into|against|around|behind|during|through|upon|toward|towards)\b",
    re.IGNORECASE,
)
PRODUCT = ("libs/*/src", "services/*/src", "infra/embedded/src")
# Samples: a column of documents that only the API shows, and a kind of source.
COLUMN = re.compile(r"\bmodified_at\b")
NOT_THE_COLUMN = re.compile(r"/conversion/|/services/(?!ingestion)|/libs/(?!contracts|client)|/infra/")
SOURCE_KIND = re.compile(r"\bGit(?:Source|Config|Folder)\w*\b|\bOriginKind\.git\b|(?<![\w.])[\"']git[\"']")
KIND_ITSELF = re.compile(r"/sources/git\w*(?:\.py|/)")


@dataclass(frozen=True)
class Module:
    """A Python file of the product; `name` is its import name."""

    name: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        return self.name.split(".")[0]

    @property
    def room(self) -> str:
        return ".".join(self.name.split(".")[:2])

    def imports(self) -> Iterator[str]:
        """Yields the dotted names that the module imports, except those under TYPE_CHECKING."""
        for node in _statements(self.tree.body):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield from (f"{node.module}.{one.name}" for one in node.names)

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))

    def classes(self) -> Iterator[ast.ClassDef]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))


@dataclass(frozen=True)
class Building:
    """The rooms of a package and the imports between them."""

    name: str
    rooms: frozenset[str]
    arrows: frozenset[tuple[str, str]]

    @cached_property
    def circles(self) -> list[frozenset[str]]:
        """Returns the cycles: each pair of rooms that import each other, then larger rings."""
        pairs = {frozenset(arrow) for arrow in self.arrows if (arrow[1], arrow[0]) in self.arrows}
        rings = [ring for ring in self._rings() if len(ring) > 1 and not any(pair <= ring for pair in pairs)]
        return [*pairs, *rings]

    @property
    def floors(self) -> int:
        """Returns the longest chain of imports; the rooms of a ring are on one floor."""
        ring_of = {room: ring for ring in self._rings() for room in ring}
        above: dict[frozenset[str], set[frozenset[str]]] = {}
        for source, target in self.arrows:
            if ring_of[source] != ring_of[target]:
                above.setdefault(ring_of[source], set()).add(ring_of[target])

        @cache
        def height(ring: frozenset[str]) -> int:
            return 1 + max((height(one) for one in above.get(ring, ())), default=0)

        return max(map(height, ring_of.values()), default=0)

    def _rings(self) -> list[frozenset[str]]:
        reached = {room: self._reached(room) for room in self.rooms}
        rings = {frozenset({room, *(one for one in reached[room] if room in reached[one])}) for room in self.rooms}
        return sorted(rings, key=sorted)

    def _reached(self, room: str) -> set[str]:
        seen: set[str] = set()
        waiting = [room]
        while waiting:
            here = waiting.pop()
            for source, target in self.arrows:
                if source == here and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return seen


class Code:
    """A checkout, read once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def modules(self) -> list[Module]:
        found = []
        for pattern in PRODUCT:
            for source in sorted(self.root.glob(pattern)):
                for path in sorted(source.rglob("*.py")):
                    text = path.read_text(encoding="utf-8")
                    name = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
                    found.append(Module(name, path, ast.parse(text), text.count("\n")))
        return found

    @property
    def lines(self) -> int:
        return sum(module.lines for module in self.modules)

    @property
    def class_names(self) -> Counter[str]:
        return Counter(node.name for module in self.modules for node in module.classes())

    @property
    def shared_class_names(self) -> dict[str, int]:
        """Returns the names shared by several classes, with their counts."""
        return {name: count for name, count in self.class_names.items() if count > 1}

    @cached_property
    def buildings(self) -> list[Building]:
        """Returns the packages except `contracts`, which is a list of models."""
        packages = sorted({module.package for module in self.modules} - {"contracts"})
        return [self._building(package) for package in packages]

    def _building(self, package: str) -> Building:
        modules = [module for module in self.modules if module.package == package and "." in module.name]
        rooms = frozenset(module.room for module in modules)
        arrows = {
            (module.room, target)
            for module in modules
            for name in module.imports()
            if (target := ".".join(name.split(".")[:2])) in rooms and target != module.room
        }
        return Building(package, rooms, frozenset(arrows))

    @property
    def docstrings(self) -> list[tuple[str, str]]:
        """Returns (place, first line) of every function's docstring."""
        return [
            (f"{module.path.relative_to(self.root)}:{node.lineno} {node.name}", text.split("\n")[0])
            for module in self.modules
            for node in module.functions()
            if (text := ast.get_docstring(node))
        ]

    @property
    def dangling(self) -> list[tuple[str, str]]:
        return [(place, line) for place, line in self.docstrings if PREPOSITIONS.match(line)]

    def files_with(self, pattern: re.Pattern[str], besides: Callable[[str], bool] = lambda _: False) -> list[str]:
        """Returns the product's Python and SQL files that contain the pattern."""
        files = (
            path for source in PRODUCT for ending in ("py", "sql") for path in self.root.glob(f"{source}/**/*.{ending}")
        )
        found = (str(path.relative_to(self.root)) for path in files if pattern.search(path.read_text(encoding="utf-8")))
        return sorted(name for name in found if not besides(f"/{name}"))

    @property
    def column_files(self) -> list[str]:
        """Returns the files that a new column touches, from the converter to the API, with one migration."""
        found = self.files_with(COLUMN, lambda name: NOT_THE_COLUMN.search(name) is not None)
        migrations = [name for name in found if "/migrations/" in name]
        return [name for name in found if name not in migrations[1:]]

    @property
    def source_kind_files(self) -> list[str]:
        return self.files_with(SOURCE_KIND, lambda name: KIND_ITSELF.search(name) is not None)

    @property
    def readmes(self) -> dict[str, int]:
        """Returns the lines of each README of a service or library."""
        paths = [*self.root.glob("services/*/README.md"), *self.root.glob("libs/*/README.md")]
        return {path.parent.name: path.read_text(encoding="utf-8").count("\n") for path in paths}

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yields each figure with its name."""
        classes, shared = sum(self.class_names.values()), self.shared_class_names
        readme, length = max(self.readmes.items(), key=lambda one: one[1])
        yield "lines of product code", f"{self.lines:,}"
        yield "files of product code", str(len(self.modules))
        yield "classes", str(classes)
        yield "classes per 1,000 lines", f"{1000 * classes / self.lines:.1f}"
        yield "class names used twice or more", str(len(shared))
        yield "classes that share their name", str(sum(shared.values()))
        for building in self.buildings:
            yield f"{building.name}: rooms, floors", f"{len(building.rooms)}, {building.floors}"
        yield "circles between rooms", str(sum(len(building.circles) for building in self.buildings))
        yield "files touched for a column of documents", str(len(self.column_files))
        yield "files touched for a kind of source, its own left out", str(len(self.source_kind_files))
        yield (
            "docstrings that begin with a preposition",
            f"{len(self.dangling)} of {len(self.docstrings)} ({self.dangling_share:.1%})",
        )
        yield "longest README of a service or library", f"{length} ({readme})"

    @property
    def dangling_share(self) -> float:
        return len(self.dangling) / len(self.docstrings)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields all statements except those under `if TYPE_CHECKING`."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, None) or [])
        for handler in getattr(node, "handlers", []):
            yield from _statements(handler.body)


def main(roots: list[Path]) -> None:
    """Prints the figures of the checkouts side by side."""
    columns = [dict(Code(root).rows()) for root in roots]
    names = list(dict.fromkeys(name for column in columns for name in column))
    for name in names:
        sys.stdout.write(f"{name:<56}" + "".join(f"{column.get(name, '-'):>24}" for column in columns) + "\n")


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]] or [Path(__file__).resolve().parents[1]])
