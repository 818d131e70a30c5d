"""Figures of the code itself: make figures-code. ARGS=FOLDER measures another checkout, to compare."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

SERVICES = ("gateway", "orchestrator", "ingestion", "retrieval", "knowledge-graph", "memory")
PREPOSITIONS = frozenset(
    [
        "about",
        "above",
        "after",
        "among",
        "as",
        "at",
        "before",
        "below",
        "beside",
        "between",
        "beyond",
        "by",
        "for",
        "from",
        "in",
        "inside",
        "into",
        "of",
        "on",
        "out",
        "over",
        "per",
        "through",
        "to",
        "under",
        "until",
        "up",
        "where",
        "with",
        "within",
        "without",
    ]
)


def product_files(root: Path) -> list[Path]:
    folders = [*root.glob("libs/*/src"), *root.glob("services/*/src"), root / "infra/embedded/src"]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def rooms(package: Path) -> dict[str, set[str]]:
    """Each direct member of a package, module or folder, with the members that it imports."""
    names = {path.stem if path.suffix else path.name for path in package.iterdir() if path.suffix in {".py", ""}}
    names -= {"__init__", "__main__", "__pycache__", "sql", "migrations"}
    found: dict[str, set[str]] = {name: set() for name in names}
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(tree(path)) if room in found else ():
            modules = []
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                parts = module.split(".")
                if parts[0] == package.name and len(parts) > 1 and parts[1] in found and parts[1] != room:
                    found[room].add(parts[1])
    return found


def floors_and_circles(graph: dict[str, set[str]]) -> tuple[int, int]:
    """The longest chain of imports between rooms, and the pairs of rooms that import each other, directly or not."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in graph[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        return seen

    below = {room: reached(room) for room in graph}
    circle = {room: frozenset({room} | {one for one in below[room] if room in below[one]}) for room in graph}

    @cache
    def height(members: frozenset[str]) -> int:
        targets = {circle[target] for room in members for target in graph[room]} - {members}
        return len(members) + max((height(target) for target in targets), default=0)

    direct = sum(1 for room in graph for target in graph[room] if room < target and room in graph[target])
    return max((height(one) for one in circle.values()), default=0), direct


def docstrings(files: list[Path]) -> tuple[int, int]:
    """(docstrings of functions, those that begin with a preposition)."""
    functions = [
        ast.get_docstring(node)
        for path in files
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    texts = [text for text in functions if text]
    return len(texts), sum(text.split()[0].strip(",:").lower() in PREPOSITIONS for text in texts)


def table(root: Path) -> list[tuple[str, str]]:
    files = product_files(root)
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    tests = [path for path in root.rglob("test_*.py") if ".venv" not in path.parts and "node_modules" not in path.parts]
    test_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in tests)
    classes = Counter(node.name for path in files for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef))
    shared = {name: count for name, count in classes.items() if count > 1 and name != "Settings"}
    written, dangling = docstrings(files)
    readme_lengths = {
        path.parent.name: len(path.read_text(encoding="utf-8").splitlines())
        for path in root.glob("services/*/README.md")
    }
    longest = max(readme_lengths, key=lambda name: readme_lengths[name])
    rows = [
        ("lines of product code", f"{lines:,}"),
        ("files of product code", str(len(files))),
        ("lines of test files", f"{test_lines:,}"),
        ("SQL files", str(len([path for path in root.glob("*/*/src/**/*.sql") if "migrations" not in path.parts]))),
        ("classes per 1,000 lines", f"{1000 * classes.total() / lines:.1f} ({classes.total():,} classes)"),
        ("classes that share their name", f"{sum(shared.values())} ({len(shared)} names)"),
        ("docstrings that begin with a preposition", f"{dangling} of {written:,} ({100 * dangling / written:.1f} %)"),
        ("longest service README", f"{readme_lengths[longest]} lines ({longest})"),
    ]
    circles = defaultdict(int)
    for service in SERVICES:
        package = root / "services" / service / "src" / service.replace("-", "_")
        graph = rooms(package)
        height, circles[service] = floors_and_circles(graph)
        rows.append((f"rooms and floors: {service}", f"{len(graph)}, {height}"))
    rows.append(("pairs of rooms that import each other", str(sum(circles.values()))))
    return rows


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    print("| figure | measured |\n|---|---|")
    for name, value in table(root):
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
