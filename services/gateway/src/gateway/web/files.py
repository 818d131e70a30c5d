"""The files of the package `attractor_web`, which is built separately (services/web) and may appear at run time."""

from __future__ import annotations

import importlib
import mimetypes
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "attractor_web"
# Suffixes of the compressed files that the build adds, by the token of Accept-Encoding
ENCODINGS = {"br": ".br", "gzip": ".gz"}
MEDIA_TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}


@dataclass(frozen=True)
class WebFile:
    """A file as it is sent; `encoding` is None if it is not compressed."""

    path: Path
    media_type: str
    encoding: str | None


class WebFiles:
    def __init__(self) -> None:
        self._folder: Path | None = None

    def index(self) -> str | None:
        """Returns index.html, with `CSP_NONCE` as the placeholder of the nonce; None while there is no web UI."""
        found = self._file("index.html")
        return found.read_text(encoding="utf-8") if found else None

    def find(self, name: str, accepted: str) -> WebFile | None:
        """Returns the file, compressed with an encoding that `Accept-Encoding` allows."""
        path = self._file(name)
        if path is None:
            return None
        media_type = MEDIA_TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        tokens = {token.partition(";")[0].strip() for token in accepted.split(",")}
        for encoding, suffix in ENCODINGS.items():
            packed = path.with_name(path.name + suffix)
            if encoding in tokens and packed.is_file():
                return WebFile(packed, media_type, encoding)
        return WebFile(path, media_type, None)

    def _file(self, name: str) -> Path | None:
        self._folder = self._folder or _installed()
        if self._folder is None:
            return None
        path = (self._folder / name).resolve()
        return path if path.is_relative_to(self._folder) and path.is_file() else None


def _installed() -> Path | None:
    importlib.invalidate_caches()
    spec = find_spec(PACKAGE)
    return (Path(spec.origin).parent / "dist").resolve() if spec and spec.origin else None
