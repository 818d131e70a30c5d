"""The blocks of a docutils tree in reading order, with the lines that they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from docutils import nodes

from ingestion.conversion.restructured.inline import inline_lines, inline_text
from ingestion.conversion.restructured.tables import Cell, table_cells

BULLET = "-"
ERROR = 3  # of docutils' levels


class Kind(StrEnum):
    heading = "heading"
    text = "text"
    item = "item"
    code = "code"
    formula = "formula"
    table = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """`level` is that of a heading, from 1, or how many lists the block is in. Lines count from 1.

    `marker` is that of a list item; `verbatim` says that the lines of `text` are those of the file.
    """

    kind: Kind
    text: str
    level: int = 0
    line_start: int | None = None
    line_end: int | None = None
    marker: str = ""
    verbatim: bool = False
    language: str | None = None
    cells: tuple[tuple[Cell, ...], ...] = field(default=(), compare=False)


def blocks(document: nodes.document) -> list[Block]:
    """Comments, targets inside the document and docutils' own messages are left out."""
    return [block for block in _children(document, 0, 0) if block.text.strip() or block.cells]


def _children(node: nodes.Element, section: int, depth: int) -> Iterator[Block]:
    for child in node.children:
        yield from _block(child, section, depth)


def _block(node: nodes.Node, section: int, depth: int) -> Iterator[Block]:
    if isinstance(node, nodes.section):
        yield from _children(node, section + 1, depth)
    elif isinstance(node, nodes.title | nodes.subtitle) and not depth and section and node.parent.tagname == "section":
        yield _leaf(node, Kind.heading, inline_text(node), section)
    elif isinstance(node, nodes.bullet_list | nodes.enumerated_list):
        yield from _list(node, section, depth)
    elif isinstance(node, nodes.Element):
        for kinds, read in READERS:
            if isinstance(node, kinds):
                yield from read(node, depth)
                return
        if not isinstance(node, UNSEEN):
            yield from _children(node, section, depth)


def _leaf(node: nodes.Node, kind: Kind, text: str, level: int) -> Block:
    raw = (node.rawsource if isinstance(node, nodes.Element) else "").strip("\n")
    end = node.line + raw.count("\n") if node.line else None
    return Block(kind, text, level, node.line, end)


def _list(node: nodes.bullet_list | nodes.enumerated_list, section: int, depth: int) -> Iterator[Block]:
    number = node.get("start", 1)
    for item in node.children:
        marker = f"{number}." if isinstance(node, nodes.enumerated_list) else BULLET
        yield from _item(_children(item, section, depth + 1), marker, depth + 1, item)
        number += 1


def _item(inside: Iterator[Block], marker: str, depth: int, node: nodes.Node, head: str = "") -> Iterator[Block]:
    """Its first paragraph is the item's text; what follows stands inside it."""
    rest = [block for block in inside if block.text.strip() or block.cells]
    first = rest[0] if rest and rest[0].kind is Kind.text and rest[0].level == depth else None
    if first is not None:
        start = node.line or first.line_start if head else first.line_start
        yield replace(first, kind=Kind.item, text=f"{head}{first.text}", marker=marker, line_start=start)
        yield from rest[1:]
    elif head or rest:
        yield Block(Kind.item, head.rstrip(), depth, node.line, node.line, marker)
        yield from rest


def _definitions(node: nodes.Element, depth: int) -> Iterator[Block]:
    for item in node.children:
        terms = [inline_text(child) for child in item.children if isinstance(child, nodes.term | nodes.classifier)]
        inside = [
            block
            for child in item.children
            if isinstance(child, nodes.definition)
            for block in _children(child, 0, depth + 1)
        ]
        yield from _item(iter(inside), BULLET, depth + 1, item, f"{' : '.join(terms)}: ")


def _options(node: nodes.Element, depth: int) -> Iterator[Block]:
    for item in node.children:
        names = ", ".join(option.astext() for option in item.findall(nodes.option))
        inside = [block for each in item.findall(nodes.description) for block in _children(each, 0, depth + 1)]
        yield from _item(iter(inside), BULLET, depth + 1, item, f"`{names}`: ")


def _fields(node: nodes.Element, depth: int) -> Iterator[Block]:
    """Fields of a paragraph each are one block of lines, as in the header of a PEP."""
    lines: list[str] = []
    start: int | None = None
    for each in node.children:
        name, body = inline_text(each.children[0]), each.children[1]
        start = start or _line(each, node)
        if len(body.children) < 2 and all(isinstance(child, nodes.paragraph) for child in body.children):
            lines.append(f"{name}: {inline_text(body)}".rstrip())
            continue
        yield Block(Kind.text, "\n".join(lines), depth, start, _last_line(each, start))
        lines, start = [], None
        yield from _item(_children(body, 0, depth + 1), BULLET, depth + 1, each, f"{name}: ")
    last = node.children[-1] if node.children else node
    yield Block(Kind.text, "\n".join(lines), depth, start, _last_line(last, start))


def _line(node: nodes.Node, parent: nodes.Node) -> int | None:
    found = [each.line for each in node.findall(nodes.paragraph) if each.line]
    line: int | None = node.line or (min(found) if found else parent.line)
    return line


def _last_line(node: nodes.Node, least: int | None) -> int | None:
    """The last line that something inside the node comes from."""
    ends = [least or 0]
    for each in node.findall(nodes.Element):
        if each.line:
            ends.append(each.line + each.rawsource.strip("\n").count("\n"))
    return max(ends) or None


def _paragraph(node: nodes.Element, depth: int) -> Iterator[Block]:
    yield _leaf(node, Kind.text, inline_text(node), depth)


def _code(node: nodes.Element, depth: int) -> Iterator[Block]:
    classes = [name for name in node.get("classes", ()) if name != "code"]
    text = node.astext().strip("\n")
    end = node.line + text.count("\n") if node.line else None
    language = classes[0] if classes else None
    yield Block(Kind.code, text, depth, node.line, end, verbatim=node.line is not None, language=language)


def _formula(node: nodes.Element, depth: int) -> Iterator[Block]:
    yield _leaf(node, Kind.formula, node.astext().strip(), depth)


def _lines(node: nodes.Element, depth: int) -> Iterator[Block]:
    text = "\n".join(inline_text(line) for line in node.findall(nodes.line))
    yield Block(Kind.text, text, depth, node.line, _last_line(node, node.line))


def _table(node: nodes.Element, depth: int) -> Iterator[Block]:
    title = next((inline_text(child) for child in node.children if isinstance(child, nodes.title)), "")
    yield Block(Kind.table, title, depth, node.line, _last_line(node, node.line), cells=table_cells(node))


def _note(node: nodes.Element, depth: int) -> Iterator[Block]:
    """A footnote or a citation: its label before its text."""
    label = node.children[0].astext() if node.children and isinstance(node.children[0], nodes.label) else ""
    inside = [
        block for child in node.children if not isinstance(child, nodes.label) for block in _block(child, 0, depth)
    ]
    yield from _prefixed(inside, f"[{label}] ", node, depth)


def _admonition(node: nodes.Element, depth: int) -> Iterator[Block]:
    """A note, a warning, a topic, a sidebar: its kind or its title before its text."""
    if "contents" in node.get("classes", ()):
        return
    titled = isinstance(node, nodes.admonition | nodes.topic | nodes.sidebar)
    title = next((inline_text(child) for child in node.children if isinstance(child, nodes.title)), "")
    rest = [child for child in node.children if not isinstance(child, nodes.title)]
    inside = [block for child in rest for block in _block(child, 0, depth)]
    yield from _prefixed(inside, f"{title if titled else node.tagname.capitalize()}: ".lstrip(": "), node, depth)


def _prefixed(inside: list[Block], prefix: str, node: nodes.Node, depth: int) -> Iterator[Block]:
    if inside and inside[0].kind is Kind.text:
        yield replace(inside[0], text=prefix + inside[0].text)
        yield from inside[1:]
    else:
        yield Block(Kind.text, prefix.rstrip(" :"), depth, node.line, node.line)
        yield from inside


def _target(node: nodes.Element, depth: int) -> Iterator[Block]:
    """An address that the text refers to by its name."""
    if address := node.get("refuri"):
        names = ", ".join(node.get("names", ()))
        yield _leaf(node, Kind.text, f"{names}: {address}" if names else address, depth)


def _message(node: nodes.Element, depth: int) -> Iterator[Block]:
    """What docutils could not read stands in its message. A mere warning quotes what has been read, unless the
    directive in it was refused."""
    for literal in node.findall(nodes.literal_block):
        text = literal.astext().strip("\n")
        if node.get("level", 0) < ERROR and not text.startswith(".."):
            continue
        end = node.get("line", 0) + text.count("\n")
        yield Block(Kind.code, text, depth, node.get("line"), end if node.get("line") else None)


def _image(node: nodes.Element, depth: int) -> Iterator[Block]:
    yield _leaf(node, Kind.text, node.get("alt", ""), depth)


def _nothing(_node: nodes.Element, _depth: int) -> Iterator[Block]:
    return iter(())


def _text_element(node: nodes.Element, depth: int) -> Iterator[Block]:
    yield _leaf(node, Kind.text, inline_lines(node), depth)


UNSEEN = (nodes.comment, nodes.substitution_definition, nodes.pending, nodes.meta, nodes.colspec)
Reader = Callable[[nodes.Element, int], Iterator[Block]]
READERS: tuple[tuple[tuple[type[nodes.Node], ...], Reader], ...] = (
    ((nodes.paragraph,), _paragraph),
    ((nodes.literal_block, nodes.doctest_block), _code),
    ((nodes.definition_list,), _definitions),
    ((nodes.field_list,), _fields),
    ((nodes.option_list,), _options),
    ((nodes.line_block,), _lines),
    ((nodes.table,), _table),
    ((nodes.footnote, nodes.citation), _note),
    ((nodes.Admonition, nodes.topic, nodes.sidebar), _admonition),
    ((nodes.math_block,), _formula),
    ((nodes.target,), _target),
    ((nodes.system_message,), _message),
    ((nodes.image,), _image),
    (UNSEEN, _nothing),
    ((nodes.TextElement,), _text_element),
)
