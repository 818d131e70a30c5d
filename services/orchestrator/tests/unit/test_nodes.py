"""Every node of every graph does something: none is a placeholder."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.graphs.drawing import GRAPHS

STUBS = ("return", "return None", "return {}", "return state", "return dict()", "return {**state}", "pass", "...")


def functions_of(compiled: Any) -> dict[str, Callable[..., Any]]:
    """Returns the innermost function of each node, by the node's name; other graphs within are left out."""
    found = {}
    for name, node in compiled.builder.nodes.items():
        called = getattr(node.runnable, "afunc", None)
        if called is not None:
            found[name] = inspect.unwrap(called)
    return found


def is_placeholder(function: Callable[..., Any]) -> bool:
    """Returns whether the function only returns nothing new, or only says that it is not implemented."""
    [defined] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(defined, ast.FunctionDef | ast.AsyncFunctionDef)
    body = [one for one in defined.body if not (isinstance(one, ast.Expr) and _is_text(one.value))]
    return all(ast.unparse(one) in STUBS or "NotImplemented" in ast.unparse(one) for one in body)


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


NODES = {f"{graph}.{name}": node for graph, build in GRAPHS.items() for name, node in functions_of(build()).items()}


async def empty(_state: Any) -> dict[str, Any]:
    """Reflects, one day."""
    return {}


async def unwritten(_state: Any) -> dict[str, Any]:
    raise NotImplementedError


async def unchanged(state: Any) -> Any:
    return state


def test_the_nodes_of_all_graphs_are_examined() -> None:
    assert {"conversation.reflect", "artifact_ops.generate_followup", "retrieve.rewrite_query"} <= NODES.keys()
    assert len(NODES) > 20
    assert all(is_placeholder(one) for one in (empty, unwritten, unchanged))


@pytest.mark.parametrize("name", NODES)
def test_no_node_is_a_placeholder(name: str) -> None:
    assert not is_placeholder(NODES[name])
    assert NODES[name].__module__.startswith("orchestrator.graphs.")
