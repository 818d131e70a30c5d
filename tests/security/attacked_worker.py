"""A program for `test_conversion_walls`: a worker with secrets, sockets and documents, one of which is hostile.

`python attacked_worker.py FOLDER [converter]`, with a separate converter as in Compose: prints one JSON object with the
walls, the outcome of each attack, and the outcome of the next document.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from uuid import UUID

from hostile_conversion import ATTACKS

from ingestion.conversion import ConversionError, Converter, Limits, converter
from service_kit.sandbox import refuse_inspection

SECRETS = ("s3-secret-of-the-worker", "database-password-of-the-worker")
ALONE = ("fill the disk",)  # ends the process
LIMITS = Limits(seconds=60, memory_bytes=700 << 20, pages=10, input_bytes=1 << 20)
PROSE = "# Harbour\n\nThe keeper writes down every ship that comes in with salt and timber on board.\n"


def listening(family: int, kind: int, address: Any) -> socket.socket:
    sock = socket.socket(family, kind)
    sock.bind(address)
    if kind == socket.SOCK_STREAM:
        sock.listen()
    return sock


@contextmanager
def started_converter() -> Iterator[Path]:
    """Yields the socket of a converter that runs as the worker's user, without its secrets."""
    with tempfile.TemporaryDirectory(prefix="converter-") as folder:
        own = {"CONVERTER_SOCKET": folder + "/socket", "WORK_FOLDER": folder}
        known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "TMPDIR")}
        process = subprocess.Popen([sys.executable, "-m", "ingestion", "converter"], env=known | own)
        try:
            yield Path(folder, "socket")
        finally:
            process.terminate()
            process.wait()


def main(folder: Path, listener: Path | None) -> None:
    refuse_inspection()
    work, output = folder / "work", folder / "output"
    for each in (work, output):
        each.mkdir()
    (folder / "secrets.json").write_text(SECRETS[0])
    (work / "other-document").write_text("another workspace's document")
    abstract = f"attractor-test-{os.getpid()}"
    tcp = listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    udp = listening(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
    unix = listening(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket"))
    hidden = listening(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)
    targets = {
        "secrets": SECRETS,
        "tcp": tcp.getsockname()[1],
        "udp": udp.getsockname()[1],
        "unix": str(folder / "socket"),
        "abstract": abstract,
        "worker": os.getpid(),
        "folder": str(folder),
        "secrets_file": str(folder / "secrets.json"),
        "other_document": str(work / "other-document"),
    }
    converter.TASK = "hostile_conversion:serve"

    def convert(text: str) -> str:
        (folder / "original").write_text(text)
        try:
            running.convert(folder / "original", "a.md", UUID(int=1), output, LIMITS, lambda _: None)
        except ConversionError as error:
            return error.error_class
        return (output / "document.md").read_text()

    with Converter(folder=work, listener=listener) as running:
        walls = {wall.name: wall.active for wall in running.walls}
        together = [name for name in ATTACKS if name not in ALONE]
        said = convert(json.dumps({"attacks": together, **targets}))
        found = json.loads(said) if said.startswith("{") else dict.fromkeys(together, said)
        after = [convert(PROSE)]
        for name in ALONE:
            found[name] = convert(json.dumps({"attacks": [name], **targets}))
            after.append(convert(PROSE))
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    for sock in (tcp, udp, unix, hidden):
        sock.close()
    sys.stdout.write(json.dumps({"walls": walls, "found": found, "after": after, "left": left, "prose": PROSE}))


if __name__ == "__main__":
    with started_converter() if "converter" in sys.argv else nullcontext() as place:
        main(Path(sys.argv[1]), place)
