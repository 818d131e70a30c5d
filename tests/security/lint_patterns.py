"""Rejects regular expressions whose form allows more than linear time (part of `make check`).

An unbounded quantifier may not contain another one, unless one of the two is possessive (`a++`) or atomic: otherwise a
text can be divided among them in exponentially many ways. A pattern built at run time may contain only constants and
text escaped by `re.escape`. `test_patterns.py` measures the rest.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from security.patterns import GREEDY, METHODS, ROOT, constant_pattern, inner_parts, product_files

NESTED = "a quantifier without a bound inside another one: make one of them possessive"
BUILT = "a pattern is built from something that is neither a constant nor escaped"
FUNCTIONS = METHODS | {"compile"}
# measured by `test_globs.py`, also as closures
MEASURED = frozenset({"globs.py", "prompt_fence.py"})


def faults(path: Path) -> Iterator[tuple[int, str]]:
    """Yields each line with a fault, and the fault."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_import = {id(node) for node in _outside_functions(tree)}
    for node in ast.walk(tree):
        constant = constant_pattern(node)
        if constant is not None:
            pattern = constant[0]
            if is_nested(_parser.parse(pattern.pattern, pattern.flags)):
                yield node.lineno, NESTED  # type: ignore[attr-defined]
        elif id(node) not in at_import and path.name not in MEASURED and _is_call(node) and not _is_safe(node.args[0]):  # type: ignore[attr-defined]
            yield node.lineno, BUILT  # type: ignore[attr-defined]


def is_nested(items: Iterable[Any], inside: bool = False) -> bool:
    """Returns whether an unbounded, backtracking quantifier is inside another one."""
    for kind, value in items:
        if kind is op.ATOMIC_GROUP or kind is op.POSSESSIVE_REPEAT:
            # Its content never backtracks once matched; inside it, the rule starts over.
            if any(is_nested(part) for part in inner_parts(kind, value)):
                return True
            continue
        unbounded = kind in GREEDY and value[1] is op.MAXREPEAT
        if unbounded and inside:
            return True
        if any(is_nested(part, inside or unbounded) for part in inner_parts(kind, value)):
            return True
    return False


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yields nodes evaluated at import, whose patterns `test_patterns.py` measures."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _outside_functions(child)


def _is_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in FUNCTIONS
        and bool(node.args)
    )


def _is_safe(pattern: ast.expr) -> bool:
    match pattern:
        case ast.Constant():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper()
        case ast.BinOp(left=left, right=right):
            return _is_safe(left) and _is_safe(right)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_safe(body) and _is_safe(orelse)
        case ast.JoinedStr(values=values):
            return all(_is_safe(value) for value in values)
        case ast.FormattedValue(value=value):
            return _is_safe(value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="escape")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[ast.Call(args=[function, _])]):
            return ast.unparse(function) == "re.escape"
    return False


def main() -> int:
    found = [f"{path.relative_to(ROOT)}:{line}: {what}" for path in product_files() for line, what in faults(path)]
    sys.stdout.writelines(f"{one}\n" for one in found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
