"""SQL lives in .sql files beside the code that runs it."""

from __future__ import annotations

from importlib import resources
from typing import LiteralString


class Queries:
    """The statements of a package's `sql` folder: `queries["claim_run"]` is the text of sql/claim_run.sql."""

    def __init__(self, statements: dict[str, LiteralString]) -> None:
        self.statements = statements

    def __getitem__(self, name: str) -> LiteralString:
        return self.statements[name]


def load(package: str) -> Queries:
    """Reads all of the folder at once, so that a missing file fails when the process starts."""
    files = (file for file in resources.files(package).joinpath("sql").iterdir() if file.name.endswith(".sql"))
    return Queries({file.name[:-4]: file.read_text(encoding="utf-8") for file in files})
