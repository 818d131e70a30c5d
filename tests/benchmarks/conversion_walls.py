"""The cost of the walls around conversions: `python tests/benchmarks/conversion_walls.py [documents]`.

The same small documents are converted alternately by processes with and without walls, both reused and new.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from ingestion.conversion import Converter, Limits, Recycling, Setup, converter

PROSE = "# Harbour\n\n" + "The keeper writes down every ship that comes in with salt and timber on board.\n\n" * 20
LIMITS = Limits(seconds=60, memory_bytes=2 << 30, pages=10, input_bytes=1 << 20)


def started(folder: Path, preload: str, reused: int) -> Converter:
    converter.PRELOAD = preload
    return Converter(Setup(recycling=Recycling(reused, idle_seconds=600)), folder)


def main(documents: int) -> None:
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.md").write_text(PROSE)

        def timed(running: Converter) -> Callable[[], float]:
            def convert() -> float:
                began = time.perf_counter()
                running.convert(folder / "a.md", "a.md", UUID(int=1), folder, LIMITS, lambda _: None)
                return (time.perf_counter() - began) * 1000

            return convert

        for label, reused in (("reused process", 10 * documents), ("new process", 1)):
            with (
                started(folder, "ingestion.conversion.preload", reused) as walled,
                started(folder, "conversion_walls_off", reused) as open_,
            ):
                runs = {"with walls": timed(walled), "without": timed(open_)}
                found: dict[str, list[float]] = {name: [] for name in runs}
                for turn in range(documents + 2):
                    for name, convert in runs.items():
                        took = convert()
                        if turn >= 2:
                            found[name].append(took)
                for name, times in found.items():
                    sys.stdout.write(f"{label}, {name}: median {statistics.median(times):.1f} ms, n {len(times)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
