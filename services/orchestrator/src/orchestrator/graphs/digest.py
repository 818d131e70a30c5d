"""A digest of what checkpoints depend on: a graph's nodes and edges, and its state's fields."""

from __future__ import annotations

import hashlib
import json
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from langgraph.graph.state import CompiledStateGraph


def digest(graph: CompiledStateGraph[Any, Any, Any, Any]) -> str:
    """Returns a text that is equal for two graphs, in any process, if a run of one can continue in the other.

    The code of nodes is not included: a node whose meaning changes needs a new name.
    """
    builder = graph.builder
    parts = {
        "nodes": {name: _below(node.runnable) for name, node in sorted(builder.nodes.items())},
        "edges": sorted(
            [*builder.edges, *((source, end) for starts, end in builder.waiting_edges for source in starts)]
        ),
        "branches": {
            source: {name: sorted((branch.ends or {}).items()) for name, branch in branches.items()}
            for source, branches in builder.branches.items()
        },
        "state": _described(builder.state_schema),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _below(node: Any) -> str | None:
    """Returns the digest of a node that is itself a graph."""
    return digest(node) if isinstance(node, CompiledStateGraph) else None


def _described(part: Any) -> Any:
    """Describes a type, including the fields of a TypedDict within it; a reducer by its name."""
    if is_typeddict(part):
        return {name: _described(kind) for name, kind in get_type_hints(part, include_extras=True).items()}
    if origin := get_origin(part):
        return [_described(origin), *map(_described, get_args(part))]
    if name := getattr(part, "__qualname__", None):
        return f"{part.__module__}.{name}"
    return repr(part)
