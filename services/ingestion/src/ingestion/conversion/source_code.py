"""Splits source code at definitions if a grammar is installed for its language, else at blank lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import tree_sitter_c
import tree_sitter_c_sharp
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from docling.utils.code_language import detect_code_language
from docling_core.types.doc.document import DoclingDocument
from tree_sitter import Language, Node, Parser

from ingestion.conversion.packing import pack
from ingestion.conversion.passages import Passage, TokenBudget

GRAMMARS: dict[str, Callable[[], object]] = {
    "c": tree_sitter_c.language,
    "cs": tree_sitter_c_sharp.language,
    "go": tree_sitter_go.language,
    "java": tree_sitter_java.language,
    "rs": tree_sitter_rust.language,
    "ts": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    **dict.fromkeys(("cpp", "cc", "cxx", "hpp", "hh", "h"), tree_sitter_cpp.language),  # also reads headers of C
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), tree_sitter_javascript.language),
    **dict.fromkeys(("py", "pyi"), tree_sitter_python.language),
}
DEFINITION = re.compile(
    r"(function|generator_function|async_function|class|abstract_class|method|constructor|destructor|interface|enum"
    r"|record|annotation_type|struct|union|namespace|type|type_alias|trait|impl|mod|macro|internal_module|module)"
    r"_(definition|declaration|specifier|item)$|internal_module$"
)
CONTAINER = re.compile(
    r"(class|struct|record|interface|enum)_(definition|declaration|specifier)$|namespace_(definition|declaration)$"
    r"|(trait|impl|mod)_item$|module$"
)
BODY_NEEDED = ("_specifier", "mod_item")  # without a body it only names something defined elsewhere
WRAPPERS = {
    "decorated_definition",
    "export_statement",
    "expression_statement",
    "lexical_declaration",
    "template_declaration",
    "variable_declaration",
}
# Nodes that are looked through: their definitions belong to the enclosing node.
TRANSPARENT = {
    "declaration_list",
    "enum_body_declarations",
    "linkage_specification",
    "preproc_elif",
    "preproc_else",
    "preproc_if",
    "preproc_ifdef",
}
RECEIVER_TYPE = re.compile(r"(?<!\w)(\w++)(?:\[[^\[\]]*+\])?\s*+\)$")  # the receiver of a Go method: (s *Stack[T])
WORD = re.compile(r"\w")
FUNCTION_VALUES = {"arrow_function", "function_expression", "class"}


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `start` to `end` (from 0, `end` exclusive), with the names of the enclosing definitions."""

    start: int
    end: int
    path: tuple[str, ...]


def code_passages(text: str, extension: str, budget: TokenBudget) -> list[Passage]:
    """Returns passages that together are the whole file, each with its enclosing definitions if they are known."""
    lines = text.split("\n")
    passages: list[Passage] = []
    for block in _blocks(text, lines, extension, budget):
        path = budget.capped(block.path)
        passages += pack("\n".join(lines[block.start : block.end]), budget, path, block.start + 1)
    return passages


def code_document(text: str, name: str, extension: str) -> DoclingDocument:
    document = DoclingDocument(name=name)
    document.add_code(text=text, code_language=detect_code_language(text, hint=extension))
    return document


def _blocks(text: str, lines: Sequence[str], extension: str, budget: TokenBudget) -> list[Block]:
    grammar = GRAMMARS.get(extension)
    if grammar is None:
        return [Block(0, len(lines), ())]
    root = Parser(Language(grammar())).parse(text.encode()).root_node
    blocks: list[Block] = []
    for block in _within(root, Block(0, len(lines), ()), lines, budget):
        says_nothing = not WORD.search("\n".join(lines[block.start : block.end]))
        if says_nothing and blocks:  # such as a closing brace
            blocks[-1] = replace(blocks[-1], end=block.end)
        else:
            blocks.append(block)
    return blocks


def _within(parent: Node, whole: Block, lines: Sequence[str], budget: TokenBudget) -> Iterator[Block]:
    """Yields the definitions directly inside `parent` and the lines between them, in order."""
    at = whole.start
    for node, name in _definitions(parent):
        start = _with_comment_above(max(node.start_point.row, at), at, lines)
        end = min(node.end_point.row + 1, whole.end)
        if end <= at:
            continue  # on the last line of the previous definition, as in minified code
        if start > at:
            yield Block(at, start, whole.path)
        inside = Block(start, end, (*whole.path, name))
        body = _container_body(node)
        if body is not None and budget.size("\n".join(lines[start:end])) > budget.room(inside.path):
            yield from _within(body, inside, lines, budget)
        else:
            yield inside
        at = end
    if at < whole.end:
        yield Block(at, whole.end, whole.path)


def _definitions(parent: Node) -> Iterator[tuple[Node, str]]:
    waiting = parent.named_children[::-1]
    while waiting:
        node = waiting.pop()
        if node.type in TRANSPARENT:
            waiting += node.named_children[::-1]
        elif name := _name(node):
            yield node, name


def _name(node: Node) -> str | None:
    if node.type in WRAPPERS:
        return next((name for child in node.named_children if (name := _name(child))), None)
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return _text(node.child_by_field_name("name")) if value is not None and value.type in FUNCTION_VALUES else None
    if not DEFINITION.match(node.type):
        return None
    if node.type.endswith(BODY_NEEDED) and node.child_by_field_name("body") is None:
        return None
    if node.type == "impl_item":
        parts = (_text(node.child_by_field_name(field)) for field in ("trait", "type"))
        return " for ".join(part for part in parts if part)
    if node.type == "type_declaration":  # in Go, may contain several
        return next((name for each in node.named_children if (name := _text(each.child_by_field_name("name")))), None)
    name = _text(node.child_by_field_name("name")) or _declared(node.child_by_field_name("declarator"))
    receiver = _text(node.child_by_field_name("receiver"))
    owner = RECEIVER_TYPE.search(receiver) if receiver else None
    return f"{owner[1]}.{name}" if owner else name


def _declared(node: Node | None) -> str | None:
    """Returns the name inside a C or C++ declarator, which wraps it in pointers, references and parameters."""
    while node is not None:
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "reference_declarator":
            inner = node.named_children[0]
        if inner is None:
            break
        node = inner
    return _text(node)


def _text(node: Node | None) -> str | None:
    return node.text.decode(errors="replace") if node is not None and node.text else None


def _container_body(node: Node) -> Node | None:
    if node.type in WRAPPERS:
        return next((body for child in node.named_children if (body := _container_body(child)) is not None), None)
    return node.child_by_field_name("body") if CONTAINER.search(node.type) else None


def _with_comment_above(start: int, lowest: int, lines: Sequence[str]) -> int:
    """Returns the first line of the comment directly above a definition, or `start`."""
    while start > lowest and lines[start - 1].lstrip().startswith(("#", "//", "/*", "*", "*/")):
        start -= 1
    return start
