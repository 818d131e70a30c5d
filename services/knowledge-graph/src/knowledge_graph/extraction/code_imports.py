"""Finds the imports of source code in its syntax tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache

import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from knowledge_graph.extraction.records import Span

GRAMMARS: dict[str, Callable[[], object]] = {
    "go": tree_sitter_go.language,
    "java": tree_sitter_java.language,
    "rs": tree_sitter_rust.language,
    "ts": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), tree_sitter_javascript.language),
    **dict.fromkeys(("py", "pyi"), tree_sitter_python.language),
}
"""The grammar of each file suffix."""
OF_LANGUAGE = {
    "py": sys.stdlib_module_names,
    "rs": frozenset({"std", "core", "alloc", "crate", "self", "super"}),
    "java": frozenset({"java", "javax", "jdk"}),
}
"""Modules that come with the language, and words for the file's own package."""
OF_NODE = frozenset(
    {"assert", "buffer", "child_process", "crypto", "events", "fs", "http", "https", "net", "os", "path", "process"}
    | {"querystring", "readline", "stream", "timers", "tls", "url", "util", "worker_threads", "zlib"}
)
DEEPEST = 40


def parsed_imports(text: str, suffix: str) -> Iterator[Span]:
    """Yields the modules in text order; `suffix` is one of GRAMMARS. Broken code yields what can be parsed."""
    content = text.encode()
    root = Parser(_language(suffix)).parse(content).root_node
    for node in _imported(root, 0):
        name = content[node.start_byte : node.end_byte].decode()
        bare = name.strip("\"'`")
        if bare and not _comes_with_language(bare, suffix):
            start = len(content[: node.start_byte].decode()) + name.index(bare)
            yield Span(start, start + len(bare), bare, "LIBRARY")


@cache
def _language(suffix: str) -> Language:
    return Language(GRAMMARS[suffix]())


def _imported(node: Node, depth: int) -> Iterator[Node]:
    """Yields the nodes that name imports, at any depth."""
    yield from _named(node)
    if depth < DEEPEST and node.type not in {"import_from_statement", "use_declaration"}:
        for child in node.children:
            yield from _imported(child, depth + 1)


def _named(node: Node) -> Iterator[Node]:
    """Yields the names in this node if it is an import."""
    match node.type:
        case "import_from_statement":
            yield from _field(node, "module_name")
        case "import_statement" if node.child_by_field_name("source") is None:
            for child in node.children_by_field_name("name"):
                yield from _field(child, "name") if child.type == "aliased_import" else [child]
        case "import_statement" | "export_statement":
            yield from _field(node, "source")
        case "import_spec":
            yield from _field(node, "path")
        case "import_declaration":
            yield from (child for child in node.children if child.type in {"scoped_identifier", "identifier"})
        case "use_declaration":
            yield from _used(node.child_by_field_name("argument"))
        case "call_expression" if _is_require(node):
            yield from _strings(node.child_by_field_name("arguments"))


def _used(node: Node | None) -> Iterator[Node]:
    """Yields the path of a Rust `use`, up to the braces."""
    while node is not None and node.type in {"scoped_use_list", "use_as_clause", "use_wildcard"}:
        node = node.child_by_field_name("path") or (node.children[0] if node.children else None)
    if node is not None:
        yield node


def _is_require(node: Node) -> bool:
    called = node.child_by_field_name("function")
    return called is not None and called.text == b"require"


def _strings(node: Node | None) -> Iterator[Node]:
    if node is not None:
        yield from (child for child in node.children if child.type == "string")


def _field(node: Node, name: str) -> Iterator[Node]:
    found = node.child_by_field_name(name)
    if found is not None:
        yield found


def _comes_with_language(name: str, suffix: str) -> bool:
    if suffix == "go":
        return "." not in name.partition("/")[0]
    if suffix in {"js", "mjs", "cjs", "jsx", "ts", "tsx"}:
        return name.startswith("node:") or name.partition("/")[0] in OF_NODE
    return name.partition("::")[0].partition(".")[0] in OF_LANGUAGE.get("py" if suffix == "pyi" else suffix, ())
