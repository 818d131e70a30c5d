"""What Markdown files carry beside Markdown, and what docling's reader leaves undone."""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.node import DocItem
from docling_core.types.doc.items.text import SectionHeaderItem, TitleItem

FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def split_front_matter(text: str) -> tuple[str | None, str]:
    """The title that the YAML front matter names, and the text after it. Without front matter: None and all of it."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return None, text
    try:
        fields = yaml.safe_load(found[1])
    except yaml.YAMLError:
        return None, text
    if not isinstance(fields, Mapping):
        return None, text  # two thematic breaks with prose between them
    title = fields.get("title")
    return (title.strip() or None) if isinstance(title, str) else None, text[found.end() :]


def join_heading_parts(document: DoclingDocument) -> None:
    """Gives each heading its text.

    A heading of several runs, such as words and a code span, is read as an empty heading with the runs below it.
    """
    for item, _ in list(document.iterate_items()):
        if isinstance(item, TitleItem | SectionHeaderItem) and not item.text and item.children:
            parts = [part for part, _ in document.iterate_items(root=item, with_groups=True) if part is not item]
            text = " ".join(part.text for part in parts if isinstance(part, DocItem) and hasattr(part, "text"))
            item.text = item.orig = re.sub(r"\s+([.,;:!?)])", r"\1", " ".join(text.split()))
            document.delete_items(node_items=[child.resolve(document) for child in item.children])
