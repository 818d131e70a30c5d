"""Converts reStructuredText to HTML with docutils' own writer.

Anything that HTML cannot express, or that its reader would lose, first becomes plain paragraphs: header fields,
addresses of targets, markup that docutils could not read. Inline markup becomes plain text, so that paragraphs stay in
one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from docutils import nodes
from docutils.writers.html5_polyglot import HTMLTranslator

from ingestion.conversion.restructured.inline import inline_text
from ingestion.conversion.restructured.parsing import UnreadableMarkup, parse

ERROR = 3  # one of docutils' system message levels
HIDDEN = (nodes.comment, nodes.substitution_definition, nodes.pending, nodes.meta, nodes.docinfo)


def restructured_html(text: str) -> str:
    """Returns an HTML page without a head. Raises UnreadableMarkup."""
    tree = parse(text)
    try:
        _simplify(tree)
        writer = HTMLTranslator(tree)
        tree.walkabout(writer)
    except RecursionError as error:
        raise UnreadableMarkup("nested too deeply") from error
    return f"<html><body>{''.join(writer.body)}</body></html>"


def _simplify(parent: nodes.Element) -> None:
    children: list[nodes.Node] = []
    for child in parent.children:
        children += _simplified(child)
    parent.children = []
    parent.extend(children)


def _simplified(node: nodes.Node) -> Iterable[nodes.Node]:
    if not isinstance(node, nodes.Element) or isinstance(node, HIDDEN):
        return []
    for kinds, simplify in REPLACED:
        if isinstance(node, kinds):
            return simplify(node)
    _simplify(node)
    return [node]


def _as_text(node: nodes.Element) -> list[nodes.Node]:
    text = inline_text(node)
    node.children = []
    node.append(nodes.Text(text))
    return [node] if text else []


def _lines(texts: Iterable[str]) -> list[nodes.Node]:
    """Returns one paragraph with a line per text, or nothing without texts."""
    parts = [part for text in texts if text for part in (nodes.raw("", "<br/>", format="html"), nodes.Text(text))]
    return [nodes.paragraph("", "", *parts[1:])] if parts else []


def _line_block(node: nodes.Element) -> list[nodes.Node]:
    return _lines(inline_text(line) for line in node.findall(nodes.line))


def _fields(node: nodes.Element) -> list[nodes.Node]:
    """Puts short fields into one paragraph, a line each, like the header of a document; long ones stand alone."""
    found: list[nodes.Node] = []
    short: list[str] = []
    for name, body in (each.children for each in node.children):
        if len(body.children) < 2 and all(isinstance(child, nodes.paragraph) for child in body.children):
            short.append(f"{inline_text(name)}: {inline_text(body)}".rstrip())
            continue
        _simplify(body)
        found += [*_lines(short), *_prefixed(f"{inline_text(name)}: ", body.children)]
        short = []
    return [*found, *_lines(short)]


def _list_item(node: nodes.Element) -> list[nodes.Node]:
    _simplify(node)
    return _item(node.children)


def _item(blocks: list[nodes.Node]) -> list[nodes.Node]:
    """Moves all but the first paragraph out of a list item, where docling would join them into one text."""
    first = blocks[:1] if blocks and isinstance(blocks[0], nodes.paragraph) else []
    return [nodes.list_item("", *(first or [nodes.paragraph("", "")])), *blocks[len(first) :]]


def _definitions(node: nodes.Element) -> list[nodes.Node]:
    """Makes list items of terms and options: `term: what it means`."""
    items: list[nodes.Node] = []
    for each in node.children:
        terms = [inline_text(term) for term in each.children if isinstance(term, nodes.term | nodes.classifier)]
        groups = [group for group in each.children if isinstance(group, nodes.option_group)]
        options = ", ".join(option.astext() for group in groups for option in group.children)
        meaning = each.children[-1]
        _simplify(meaning)
        items += _item(_prefixed(f"`{options}`: " if options else f"{' : '.join(terms)}: ", meaning.children))
    return [nodes.bullet_list("", *items)]


def _note(node: nodes.Element) -> list[nodes.Node]:
    """Puts the label of a footnote or a citation before its text."""
    label = node.children[0].astext() if node.children and isinstance(node.children[0], nodes.label) else ""
    rest = nodes.Element("", *(each for each in node.children if not isinstance(each, nodes.label)))
    _simplify(rest)
    return _prefixed(f"[{label}] ", rest.children)


def _admonition(node: nodes.Element) -> list[nodes.Node]:
    """Puts the title or kind of a note, topic or sidebar before its text; omits a table of contents."""
    if "contents" in node.get("classes", ()):
        return []
    title = next((inline_text(each) for each in node.children if isinstance(each, nodes.title)), "")
    if not title and not isinstance(node, nodes.admonition | nodes.topic | nodes.sidebar):
        title = node.tagname.capitalize()
    rest = nodes.Element("", *(each for each in node.children if not isinstance(each, nodes.title)))
    _simplify(rest)
    return _prefixed(f"{title}: " if title else "", rest.children)


def _prefixed(prefix: str, blocks: list[nodes.Node]) -> list[nodes.Node]:
    if blocks and isinstance(blocks[0], nodes.paragraph):
        blocks[0].insert(0, nodes.Text(prefix))
        return blocks
    return [*_lines([prefix.rstrip(" :")]), *blocks]


def _target(node: nodes.Element) -> list[nodes.Node]:
    """Shows the address of a named target."""
    names = ", ".join(node.get("names", ()))
    address = node.get("refuri", "")
    return _lines([f"{names}: {address}" if names and address else address])


def _message(node: nodes.Element) -> list[nodes.Node]:
    """Returns the text that docutils could not read. Warnings quote text that was read, unless it is a directive."""
    found = [literal.astext().strip("\n") for literal in node.findall(nodes.literal_block)]
    return [nodes.literal_block(text, text) for text in found if node.get("level", 0) >= ERROR or text.startswith("..")]


def _code(node: nodes.Element) -> list[nodes.Node]:
    text = node.astext().strip("\n")
    return [nodes.literal_block(text, text, classes=node.get("classes", []))] if text.strip() else []


def _cell(node: nodes.Element) -> list[nodes.Node]:
    texts = [
        inline_text(each) for each in node.findall(nodes.TextElement) if not isinstance(each.parent, nodes.TextElement)
    ]
    node.children = []
    node += nodes.paragraph("", " ".join(text for text in texts if text))
    return [node]


Simplify = Callable[[Any], list[nodes.Node]]
REPLACED: tuple[tuple[tuple[type[nodes.Node], ...], Simplify], ...] = (
    ((nodes.literal_block, nodes.doctest_block), _code),
    ((nodes.math_block,), lambda node: _lines([f"$${node.astext().strip()}$$"])),
    ((nodes.image,), lambda node: _lines([node.get("alt", "")])),
    ((nodes.target,), _target),
    ((nodes.system_message,), _message),
    ((nodes.line_block,), _line_block),
    ((nodes.field_list,), _fields),
    ((nodes.definition_list, nodes.option_list), _definitions),
    ((nodes.list_item,), _list_item),
    ((nodes.footnote, nodes.citation), _note),
    ((nodes.Admonition, nodes.topic, nodes.sidebar), _admonition),
    ((nodes.entry,), _cell),
    ((nodes.colspec,), lambda node: [node]),
    ((nodes.TextElement,), _as_text),
)
