"""Writes the files generated from the code (`make contracts`); --check lists the stale ones instead."""

from __future__ import annotations

import sys

from contract.generated import all_documents, path_of, rendered
from contract.reference import PAGES, all_pages
from contract.variables import VARIABLES, variables
from deployment_keys import SERVICES


def main() -> int:
    documents = all_documents()
    files = {path_of(name): rendered(document) for name, document in documents.items()}
    files |= {PAGES / name: page for name, page in all_pages(documents, SERVICES).items()}
    files[VARIABLES] = variables()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        sys.stdout.writelines(f"{path} is stale: run `make contracts`\n" for path in stale)
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
