"""Time to export an artifact of 50 pages as DOCX and PDF, without HTTP."""

from __future__ import annotations

import time
from dataclasses import asdict

from benchmarks.figures import Row, spread

from orchestrator.export.child import ExportAssignment
from orchestrator.export.converter import DocumentConverter
from orchestrator.export.limits import ExportLimits

PAGES, ROUNDS = 50, 10
SENTENCE = "The outage of UserDB lasted for twelve minutes, and its tokens expired [1]. "
PAGE = f"""## Section {{number}}

{SENTENCE * 8}

| Service | Minutes |
|---|--:|
| Auth | {{number}} |
| Billing | 30 |

- first **point**
- second, with $x^2$

{SENTENCE * 12}

"""


async def artifact_export() -> list[Row]:
    """Measures exports, except the first one, which starts the fork server."""
    text = "".join(PAGE.format(number=number) for number in range(PAGES))
    converter = DocumentConverter(ExportLimits(), 1)
    rows: list[Row] = []
    for target, aim in (("docx", "3 s"), ("pdf", "5 s")):
        notes = {"1": "Handbook, page 3: “Tokens expire after fifteen minutes.”"}
        wanted = ExportAssignment(text, target, "Outage", False, None, notes, 1_700_000_000, asdict(converter.limits))
        took = []
        for _ in range(ROUNDS + 1):
            began = time.perf_counter()
            size = len(await converter.convert(wanted))
            took.append(time.perf_counter() - began)
        rows.append((f"{PAGES} pages ({len(text):,} characters) to {target}, {size:,} bytes", spread(took[1:]), aim))
    await converter.aclose()
    return rows
