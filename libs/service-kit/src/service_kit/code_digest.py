"""A digest of code and data, for caches of what they determine."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path


def code_digest(settings: str, *packages: str) -> str:
    """Returns a digest of all files of the packages, and of the settings."""
    digest = hashlib.sha256(settings.encode())
    for package in packages:
        root = Path(str(resources.files(package)))
        for file in sorted(root.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"\n{package}/{file.relative_to(root)}\n".encode() + file.read_bytes())
    return digest.hexdigest()
