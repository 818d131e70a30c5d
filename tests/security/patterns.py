"""Collects every regular expression of the product, and texts that make a careless one slow.

Patterns in a pydantic `Field` are left out: pydantic matches them with a linear engine (Rust's `regex`).
"""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *("contracts", "attractor_client", "service_kit", "inference", "relevance", "backup"),
    *("gateway", "orchestrator", "ingestion", "retrieval", "knowledge_graph", "memory", "embedded"),
)
NEVER_IMPORTED = ("__main__",)
METHODS = frozenset({"match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"})
UNKNOWN_USE = frozenset({"match", "fullmatch", "finditer"})
MOST_CHARACTERS, MOST_PAIRED, MOST_PREFIXES = 10, 5, 4
CATEGORIES = {
    op.CATEGORY_DIGIT: "0",
    op.CATEGORY_NOT_DIGIT: "a",
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_SPACE: "a",
    op.CATEGORY_WORD: "a",
    op.CATEGORY_NOT_WORD: "-",
}
GREEDY = frozenset({op.MAX_REPEAT, op.MIN_REPEAT})
REPEATS = GREEDY | {op.POSSESSIVE_REPEAT}


@dataclass(frozen=True)
class Found:
    """A pattern, its location, and the methods called on it."""

    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def product_patterns() -> list[Found]:
    """Returns the patterns held by modules, and the constants passed to functions of `re`."""
    held: dict[re.Pattern[Any], Found] = {}
    for found in _held():
        before = held.get(found.pattern, found)
        held[found.pattern] = replace(before, methods=before.methods | found.methods)
    named = [replace(found, methods=found.methods or UNKNOWN_USE) for found in held.values()]
    return named + [found for found in _written() if found.pattern not in held]


def product_files() -> Iterator[Path]:
    """Yields the product's Python files, without tests."""
    for folder in ("libs", "services", "infra/embedded"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "tests" not in path.parts:
                yield path


def _held() -> Iterator[Found]:
    uses = _uses()
    for module in _modules():
        seen: set[int] = set()
        for name, value in list(vars(module).items()):
            for pattern in _patterns_in(value, module.__name__, seen):
                methods = uses.get((module.__name__, name), frozenset())
                yield Found(f"{module.__name__}.{name}", pattern, methods)


def _modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        root = importlib.import_module(package)
        yield root
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not info.name.endswith(NEVER_IMPORTED):
                yield importlib.import_module(info.name)


def _patterns_in(value: object, module: str, seen: set[int], depth: int = 4) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and id(value) not in seen:
        seen.add(id(value))
        inner: Iterable[object] = ()
        if isinstance(value, Mapping):
            inner = [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            inner = value
        elif isinstance(value, FunctionType):
            inner = [cell.cell_contents for cell in value.__closure__ or ()]
        elif isinstance(value, type) and value.__module__ == module:
            inner = list(vars(value).values())
        for one in inner:
            yield from _patterns_in(one, module, seen, depth - 1)


def _uses() -> dict[tuple[str, str], frozenset[str]]:
    """Returns the methods called on each name of a module, in the module itself and in its importers."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in product_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        here = _module_name(path)
        imported = {
            (alias.asname or alias.name): (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        items = dict(_loop_variables(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
                for name in items.get(node.value.id, {node.value.id}):
                    found.setdefault(imported.get(name, (here, name)), set()).add(node.attr)
    return {key: frozenset(methods) for key, methods in found.items()}


def _loop_variables(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Yields each loop variable with the names in its iterable."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension):
            over = {part.id for part in ast.walk(node.iter) if isinstance(part, ast.Name)}
            for part in ast.walk(node.target):
                if isinstance(part, ast.Name):
                    yield part.id, over | {part.id}


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    inside = parts[parts.index("src") + 1 :] if "src" in parts else parts
    return ".".join(inside[:-1] if inside[-1] == "__init__" else inside)


def _written() -> Iterator[Found]:
    for path in product_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            constant = constant_pattern(node)
            if constant is not None:
                pattern, method = constant
                methods = UNKNOWN_USE if method == "compile" else frozenset({method})
                yield Found(f"{path.relative_to(ROOT)}:{node.lineno}", pattern, methods)  # type: ignore[attr-defined]


def constant_pattern(node: ast.AST) -> tuple[re.Pattern[Any], str] | None:
    """Returns the pattern and the function of a call such as `re.match("a+", text)`; otherwise None."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return None
    module, function, first = node.func.value, node.func.attr, node.args[0]
    if not (isinstance(module, ast.Name) and module.id == "re" and function in METHODS | {"compile"}):
        return None
    if not (isinstance(first, ast.Constant) and isinstance(first.value, str | bytes)):
        return None
    return re.compile(first.value, _flags(node, function)), function


def _flags(call: ast.Call, function: str) -> int:
    """Evaluates an expression of flags such as `re.I | re.S`, which may contain only attributes of `re`."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    given += call.args[1:2] if function == "compile" else call.args[2:3] if function in {"match", "search"} else []
    flags = 0
    for part in (each for one in given for each in ast.walk(one)):
        if isinstance(part, ast.Attribute):
            flags |= getattr(re, part.attr)
    return flags


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yields a prefix, a part to repeat after it, and a suffix; some suffixes make most patterns fail at the end."""
    parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    characters = list(dict.fromkeys(itertools.chain(_characters(parsed), " a0\n")))[:MOST_CHARACTERS]
    pairs = [a + b for a, b in itertools.permutations(characters[:MOST_PAIRED], 2)]
    prefixes, bodies = [""], []
    for prefix, body in _loops(parsed, ""):
        prefixes.append(prefix)
        bodies.append(body)
    pumps = list(dict.fromkeys(filter(None, [*bodies, *characters, *pairs])))
    for prefix in list(dict.fromkeys(prefixes))[:MOST_PREFIXES]:
        for pump in pumps:
            for end in ("\x01", " \x01", ""):
                yield prefix, pump, end


def _loops(items: Iterable[Any], prefix: str) -> Iterator[tuple[str, str]]:
    """Yields, for each unbounded quantifier, a text that reaches it and one that it repeats."""
    for kind, value in items:
        if kind in REPEATS:
            _, most, body = value
            if most is op.MAXREPEAT:
                yield prefix, _sample(body)
            yield from _loops(body, prefix)
        for inner in () if kind in REPEATS else inner_parts(kind, value):
            yield from _loops(inner, prefix)
        prefix += _sample([(kind, value)])


def inner_parts(kind: Any, value: Any) -> list[Any]:
    """Returns the sequences of items within an item of a parsed pattern."""
    match kind:
        case op.SUBPATTERN:
            return [value[3]]
        case op.ATOMIC_GROUP:
            return [value]
        case op.BRANCH:
            return list(value[1])
        case op.ASSERT | op.ASSERT_NOT:
            return [value[1]]
        case op.GROUPREF_EXISTS:
            return [part for part in value[1:] if part is not None]
    return [value[2]] if kind in REPEATS else []


def _sample(items: Iterable[Any]) -> str:
    """Returns a short text that the items match, as far as that can be determined."""
    text = ""
    for kind, value in items:
        if kind in REPEATS:
            text += _sample(value[2]) * max(value[0], 1 if value[1] is op.MAXREPEAT else value[0])
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            continue
        elif kind is op.BRANCH:
            text += _sample(value[1][0])
        elif inner := inner_parts(kind, value):
            text += _sample(inner[0])
        else:
            text += next(iter(_of_one(kind, value)), "")
    return text


def _characters(items: Iterable[Any]) -> Iterator[str]:
    for kind, value in items:
        inner = inner_parts(kind, value)
        for one in inner:
            yield from _characters(one)
        if not inner:
            yield from _of_one(kind, value)


def _of_one(kind: Any, value: Any) -> Iterator[str]:
    match kind:
        case op.LITERAL:
            yield chr(value)
        case op.NOT_LITERAL:
            yield "a" if value != ord("a") else "b"
        case op.ANY:
            yield "a"
        case op.CATEGORY:
            yield CATEGORIES[value]
        case op.RANGE:
            yield chr(value[0])
        case op.IN if value[0][0] is op.NEGATE:
            refused = re.compile("|".join(re.escape(one) for part in value[1:] for one in _of_one(*part)) or "(?!)")
            yield next(one for one in "a 0-Z\n\x02" if not refused.fullmatch(one))
        case op.IN:
            for part in value:
                yield from _of_one(*part)
