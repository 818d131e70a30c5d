"""Renders the text of a paragraph as Markdown."""

from __future__ import annotations

import re

from docutils import nodes

DEEPEST_SUBSTITUTION = 10
URI = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


def inline_text(node: nodes.Node) -> str:
    """Returns the text on one line, with literals in backticks and links with an address as Markdown links."""
    return " ".join("".join(_text(node, 0)).split())


def _text(node: nodes.Node, depth: int) -> list[str]:
    if isinstance(node, nodes.Text):
        return [node.astext()]
    if isinstance(node, nodes.literal):
        return [f"`{node.astext()}`"]
    if isinstance(node, nodes.math):
        return [f"${node.astext()}$"]
    if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
        return [f"[{node.astext()}]"]
    if isinstance(node, nodes.substitution_reference):
        return _substituted(node, depth)
    if isinstance(node, nodes.image):
        return [node.get("alt", "")]
    if isinstance(node, nodes.target | nodes.system_message):
        return []  # the target of an embedded address follows its reference
    inner = [part for child in node.children for part in _text(child, depth)]
    if isinstance(node, nodes.reference):
        return _linked("".join(inner), node.get("refuri", ""))
    return inner


def _linked(text: str, address: str) -> list[str]:
    is_text_alone = not URI.match(address) or address.removeprefix("mailto:") == text
    return [text] if is_text_alone else [f"[{text}]({address})"]


def _substituted(node: nodes.substitution_reference, depth: int) -> list[str]:
    document = node.document
    name = node.get("refname", "")
    if document is None or depth == DEEPEST_SUBSTITUTION:
        return [node.astext()]
    name = name if name in document.substitution_defs else document.substitution_names.get(name.lower(), "")
    definition = document.substitution_defs.get(name)
    if definition is None:
        return [f"|{node.astext()}|"]
    return [part for child in definition.children for part in _text(child, depth + 1)]
