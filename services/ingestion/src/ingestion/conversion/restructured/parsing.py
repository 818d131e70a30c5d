"""Parses reStructuredText, including Sphinx's markup, to a docutils tree without reading any other file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.languages import en
from docutils.transforms.references import Footnotes
from docutils.utils import new_document
from docutils.writers.html5_polyglot import Writer

from ingestion.conversion.declared_text import has_header

# At most eighty characters: in a long chain of names and colons, each would otherwise be followed to its end.
NAME = r"([A-Za-z0-9](?:[-._+:]?[A-Za-z0-9]){0,79}+)"
DIRECTIVE = re.compile(rf"(?:^|\s)\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?{NAME}[ \t]?::(?=\s|$)", re.M)
ROLE = re.compile(rf":{NAME}:`|`:{NAME}:")
# Directives, including Sphinx's, whose content is not reStructuredText.
VERBATIM = frozenset(
    """
    code code-block sourcecode highlight doctest testcode testoutput testsetup testcleanup prompt productionlist
    ipython mermaid graphviz digraph graph uml plantuml jupyter-execute command-output program-output parsed-code
    """.split()  # noqa: SIM905 - a list of twenty lines says no more
)
SEVERITY_NEVER = 5
LONGEST_LINE = 10_000  # characters; docutils' inline patterns are not designed for more


class UnreadableMarkup(Exception):
    """docutils cannot read the text, which is then treated as plain text."""


def parse(text: str) -> nodes.document:
    """Parses without any transform except the numbering of footnotes. Raises UnreadableMarkup.

    The body of a directive that docutils does not know is read as text; an unknown role leaves its text.
    """
    if any(len(line) > LONGEST_LINE for line in text.split("\n")):
        raise UnreadableMarkup("a line is too long")
    document = new_document("document", _settings())
    with _own_tables():
        _accept_unknown(text)
        try:
            Parser(rfc2822=has_header(text)).parse(text, document)
            Footnotes(document).apply()
        except RecursionError as error:
            raise UnreadableMarkup("nested too deeply") from error
    return document


@contextmanager
def _own_tables() -> Iterator[None]:
    """Restores docutils' tables of directives and roles afterwards: they are global, and documents change them."""
    known = dict(directives._directives), dict(roles._roles)
    try:
        yield
    finally:
        for table, before in zip((directives._directives, roles._roles), known, strict=True):
            table.clear()
            table.update(before)


def _settings() -> Any:
    settings = get_default_settings(Parser, Writer)
    settings.embed_stylesheet = False
    settings.stylesheet_path = None
    settings.report_level = settings.halt_level = SEVERITY_NEVER
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.syntax_highlight = "none"
    settings.warning_stream = False
    settings._disable_config = True  # ignores the machine's docutils.conf
    return settings


def _accept_unknown(text: str) -> None:
    """Registers the directives and roles of this text that docutils does not know."""
    for name in {found[1].lower() for found in DIRECTIVE.finditer(text)}:
        if name in VERBATIM:
            directives.register_directive(name, Verbatim)
        elif name not in en.directives:
            directives.register_directive(name, Unknown)
    for name in {(found[1] or found[2]).lower() for found in ROLE.finditer(text)}:
        if name not in en.roles or name in OWN_ROLES:
            roles.register_local_role(name, OWN_ROLES.get(name, _text_role))


class _AnyOption(dict[str, Callable[[str | None], str]]):
    """An option table that accepts every name."""

    def __init__(self) -> None:
        super().__init__(name=_unchanged)

    def __missing__(self, key: str) -> Callable[[str | None], str]:
        return _unchanged


def _unchanged(value: str | None) -> str:
    return value or ""


class Unknown(Directive):  # type: ignore[misc]  # docutils has no types
    """An unknown directive: its name and arguments, such as `versionadded 3.8`, then its body."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _AnyOption()

    def run(self) -> list[nodes.Node]:
        container = nodes.container(self.block_text)
        container.line = self.lineno
        given = [value for value in self.options.values() if " " in value]
        if self.arguments or given:
            label = self.name.rpartition(":")[2]
            raw = "\n".join([f"{label} {self.arguments[0]}" if self.arguments else label, *given])
            children, messages = self.state.inline_text(raw, self.lineno)
            paragraph = nodes.paragraph(raw, "", *children)
            paragraph.line = self.lineno
            container += [paragraph, *messages]
        self.state.nested_parse(self.content, self.content_offset, container)
        return [container]


class Verbatim(Directive):  # type: ignore[misc]  # docutils has no types
    """A code block; the argument is the language."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _AnyOption()

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        found: list[nodes.Node] = []
        if caption := self.options.get("caption"):
            found.append(nodes.paragraph(caption, caption))
        if not text.strip():  # `highlight` and such
            return found
        block = nodes.literal_block(text, text, classes=["code", *(self.arguments or [""])[0].split()[:1]])
        block.line = self.content_offset + 1
        return [*found, block]


Role = Callable[..., tuple[list[nodes.Node], list[nodes.system_message]]]


def _text_role(
    _role: str,
    rawtext: str,
    text: str,
    _lineno: int,
    _inliner: object,
    _options: object = None,
    _content: object = None,
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Renders `title <target>` as its title, and `~module.name` and `!name` without their prefix."""
    shown = nodes.unescape(text)
    shown = _title(shown) or shown
    return [nodes.inline(rawtext, shown.lstrip("~!"))], []


def _title(shown: str) -> str | None:
    """Returns the title of `title <target>`; None for text of another form."""
    title, opened, target = shown.rpartition("<")
    is_target = opened and target.endswith(">") and 0 < target.find(">") == len(target) - 1
    return title.rstrip() or None if is_target else None


def _numbered(prefix: str) -> Role:
    def role(
        _role: str, rawtext: str, text: str, *_: object, **__: object
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        shown = nodes.unescape(text)
        return [nodes.inline(rawtext, _title(shown) or f"{prefix} {shown.partition('#')[0]}")], []

    return role


OWN_ROLES: dict[str, Role] = {
    "pep": _numbered("PEP"),
    "pep-reference": _numbered("PEP"),
    "rfc": _numbered("RFC"),
    "rfc-reference": _numbered("RFC"),
    "raw": _text_role,
}
