"""Makes a parsed document (Pandoc's JSON) safe to write in any format, with notes for citations. Pure.

It must not name a file or an address that a converter would fetch, or set an attribute that a writer would pass on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.artifacts.markers import MARKER

Node = dict[str, Any]
BEGUN = re.compile(r"\[(?:\d{1,3}, ?){1,11}\Z")  # the beginning of a marker that contains a space
LINKED = ("http://", "https://", "mailto:")
ANCHOR = re.compile(r"[a-z][a-z0-9-]{0,200}\Z")
LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,40}\Z")
LONGEST_BEGUN = 60  # characters
SPACES = frozenset({"Space", "SoftBreak"})
NOTHING: list[Any] = ["", [], []]


@dataclass
class SafeDocument:
    """`notes` are citation texts by number. `math_as_code`: formulas are written as they were typed."""

    notes: Mapping[int, str]
    math_as_code: bool = False
    anchors: set[str] = field(default_factory=set)

    def cleaned(self, document: Node) -> Node:
        """Returns the document with only text, structure, and links to the web and to its own headings."""
        self.anchors = {anchor for anchor in _anchors(document["blocks"]) if ANCHOR.match(anchor)}
        return {**document, "meta": {}, "blocks": self._all(document["blocks"], True)}

    def _all(self, nodes: Any, noted: bool) -> list[Any]:
        if _is_attributes(nodes):
            return NOTHING
        found: list[Any] = []
        for node in _whole_markers(nodes) if noted else nodes:
            if isinstance(node, list):
                found.append(self._all(node, noted))
            elif isinstance(node, dict) and node.get("t") == "Str" and noted:
                self._add_text(found, node["c"])
            elif isinstance(node, dict) and "t" in node:
                found += self._element(node, noted)
            else:
                found.append(node)
        return found

    def _element(self, node: Node, noted: bool) -> list[Any]:
        """Returns the nodes that replace the node."""
        match node["t"], node.get("c"):
            case ("RawInline" | "RawBlock") as kind, [_, text]:
                return _shown(kind, text)
            case "Image", [_, shown, [address, _]]:
                return self._link(shown or [_text(address)], address)
            case "Link", [_, shown, [address, _]]:
                return self._link(shown, address)
            case "Header", [level, [anchor, _, _], shown]:
                kept: list[Any] = [anchor if anchor in self.anchors else "", [], []]
                return [{"t": "Header", "c": [level, kept, self._all(shown, noted)]}]
            case "CodeBlock", [[_, classes, _], text]:
                return [code_block(text, next(iter(classes), None))]
            case kind, [_, text] if kind == "Code" or (kind == "Math" and self.math_as_code):
                return [{"t": "Code", "c": [NOTHING, text]}]
            case (("Span" | "Div"), [_, inside]):
                return self._all(inside, noted)
            case "Note", inside:
                return [{"t": "Note", "c": self._all(inside, False)}]
            case _, list() as inside:
                return [{**node, "c": self._all(inside, noted)}]
        return [node]

    def _link(self, shown: list[Any], address: str) -> list[Any]:
        inside = self._all(shown, False)
        if address.lower().startswith(LINKED) or (address[:1] == "#" and address[1:] in self.anchors):
            return [{"t": "Link", "c": [NOTHING, inside, [address, ""]]}]
        return inside

    def _add_text(self, found: list[Any], text: str) -> None:
        """Adds the text, with notes in place of markers whose citations are all known."""
        end = 0
        for marker in MARKER.finditer(text):
            numbers = [int(number) for number in marker[1].split(",")]
            if not all(number in self.notes for number in numbers):
                continue
            if before := text[end : marker.start()].rstrip():
                found.append(_text(before))
            elif found and isinstance(found[-1], dict) and found[-1].get("t") in SPACES:
                found.pop()
            for place, number in enumerate(numbers):
                if place:
                    found.append({"t": "Superscript", "c": [_text(",")]})
                found.append({"t": "Note", "c": [{"t": "Para", "c": _words(self.notes[number])}]})
            end = marker.end()
        if end < len(text):
            found.append(_text(text[end:]))


def code_block(text: str, language: str | None) -> Node:
    """Returns the text as a code block; a language that is not a plain word is left out."""
    classes = [language] if language and LANGUAGE.match(language) else []
    return {"t": "CodeBlock", "c": [["", classes, []], text]}


def titled(document: Node, title: str | None) -> Node:
    """Returns the document, with the title added if it does not begin with a heading."""
    if not title or starts_with_heading(document):
        return document
    return {**document, "meta": {"title": {"t": "MetaInlines", "c": _words(title)}}}


def starts_with_heading(document: Node) -> bool:
    return bool(document["blocks"]) and document["blocks"][0].get("t") == "Header"


def _shown(kind: str, raw: str) -> list[Any]:
    """Returns markup as literal text; comments are left out."""
    if raw.startswith("<!--"):
        return []
    return [_text(raw)] if kind == "RawInline" else [code_block(raw, None)]


def _whole_markers(nodes: list[Any]) -> list[Any]:
    """Joins markers such as [1, 2], which the parser splits at spaces."""
    found: list[Any] = []
    for node in nodes:
        text = node["c"] if isinstance(node, dict) and node.get("t") == "Str" else None
        if text and len(found) > 1 and _is(found[-1], "Space") and _is(found[-2], "Str") and text[0].isdigit():
            before = found[-2]["c"]
            if BEGUN.search(before[-LONGEST_BEGUN:]):
                found[-2:] = [_text(f"{before} {text}")]
                continue
        found.append(node)
    return found


def _anchors(blocks: list[Any]) -> list[str]:
    return [node["c"][1][0] for node in blocks if _is(node, "Header")]


def _is(node: Any, kind: str) -> bool:
    return isinstance(node, dict) and node.get("t") == kind


def _is_attributes(nodes: list[Any]) -> bool:
    return len(nodes) == 3 and isinstance(nodes[0], str) and isinstance(nodes[1], list) and isinstance(nodes[2], list)


def _text(text: str) -> Node:
    return {"t": "Str", "c": text}


def _words(text: str) -> list[Any]:
    found: list[Any] = []
    for word in text.split():
        found += [{"t": "Space"}, _text(word)]
    return found[1:]
