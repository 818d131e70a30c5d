"""Writes .env from .env.example with fresh secrets. An existing .env is kept, and missing settings are named."""

from __future__ import annotations

import os
import re
import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    example, target = (ROOT / ".env.example").read_text(encoding="utf-8"), ROOT / ".env"
    wanted = re.findall(r"^([A-Z0-9_]+)=<generate>$", example, re.MULTILINE)
    if target.exists():
        present = set(re.findall(r"^([A-Z0-9_]+)=.", target.read_text(encoding="utf-8"), re.MULTILINE))
        missing = [name for name in wanted if name not in present]
        sys.stdout.write(f".env is there and was left alone{'; it lacks ' + ', '.join(missing) if missing else ''}\n")
        return 1 if missing else 0
    text = re.sub("<generate>", lambda _: secrets.token_hex(24), example)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    sys.stdout.write(".env written: it holds the secrets of this deployment, keep it safe\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
