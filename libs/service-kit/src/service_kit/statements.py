"""Loads SQL from `.sql` files of named statements beside the module that runs them; names are checked at import.

A file, `documents.sql`, holds the statements of one noun. Each begins with its name; the comment below it is its
description, which is not sent to the server:

    -- name: find
    -- Returns the newest version of a document.
    SELECT {columns} FROM document WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

A class in the module declares the statements that it uses, and fills the placeholders once:

    class DocumentSql(Statements, file="documents.sql", columns=DOCUMENT_COLUMNS):
        find: LiteralString

`DocumentSql.find` is then the statement's text. Cypher files mark names with `// name:`.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

NAME = re.compile(r"^(?:--|//) name: (\w+)[ \t]*\n(?:(?:--|//).*+\n)*+", re.MULTILINE)
NOT_A_STATEMENT = re.compile(r"\s*+(?:(?:--|//).*+\s*+)*+")
PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


class StatementsInvalid(Exception):
    """A class of statements and its file do not agree; the message names the file and the statement."""


class Statements:
    """Base of classes whose annotated attributes are the statements of one or more files.

    Raises StatementsInvalid when the class is defined, if the declared names are not exactly those of the files, if a
    name occurs twice, if a placeholder has no value or if a value has no placeholder.
    """

    def __init_subclass__(cls, file: str | tuple[str, ...], **fills: str) -> None:
        super().__init_subclass__()
        folder = Path(inspect.getfile(cls)).parent
        files = (file,) if isinstance(file, str) else file
        declared, origins = set(inspect.get_annotations(cls)), dict[str, str]()
        unused = set(fills)
        for each in files:
            for name, text in _named(folder / each):
                if name in origins:
                    raise StatementsInvalid(f"{each}: statement {name!r} stands twice (also in {origins[name]})")
                if name not in declared:
                    raise StatementsInvalid(f"{each}: {cls.__name__} does not declare the statement {name!r}")
                missing = set(PLACEHOLDER.findall(text)) - set(fills)
                if missing:
                    raise StatementsInvalid(f"{each}: no value for {{{min(missing)}}} of statement {name!r}")
                unused -= set(PLACEHOLDER.findall(text))
                origins[name] = each
                setattr(cls, name, PLACEHOLDER.sub(lambda found: fills[found[1]], text))
        if declared - set(origins):
            missing_name = min(declared - set(origins))
            raise StatementsInvalid(f"{', '.join(files)}: {cls.__name__} declares {missing_name!r}, which is not there")
        if unused:
            raise StatementsInvalid(f"{', '.join(files)}: {{{min(unused)}}} occurs in no statement of {cls.__name__}")


def _named(path: Path) -> list[tuple[str, str]]:
    """Returns a file's statements in order, without their descriptions and final semicolons."""
    text = path.read_text(encoding="utf-8")
    heads = list(NAME.finditer(text))
    before = text[: heads[0].start()] if heads else text
    if NOT_A_STATEMENT.fullmatch(before) is None:
        raise StatementsInvalid(
            f"{path.name}: a statement without a name before {heads[0][1] if heads else 'its end'!r}"
        )
    ends = [head.start() for head in heads[1:]] + [len(text)]
    statements = [(head[1], text[head.end() : end].strip().rstrip(";")) for head, end in zip(heads, ends, strict=True)]
    for name, statement in statements:
        if not statement:
            raise StatementsInvalid(f"{path.name}: statement {name!r} is empty")
    return statements
