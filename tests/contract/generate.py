"""Writes the contract's documents anew: make contracts."""

from __future__ import annotations

from contract.generated import FOLDER, all_documents, rendered

FOLDER.mkdir(exist_ok=True)
for name, document in all_documents().items():
    (FOLDER / name).write_text(rendered(document), encoding="utf-8")
