"""Writes .env from .env.example with fresh secrets. An existing .env is kept, and missing settings are named."""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

import token_keys

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    example, target = (ROOT / ".env.example").read_text(encoding="utf-8"), ROOT / ".env"
    wanted = re.findall(r"^([A-Z0-9_]+)=<generate>$", example, re.MULTILINE)
    if target.exists():
        present = set(re.findall(r"^([A-Z0-9_]+)=.", target.read_text(encoding="utf-8"), re.MULTILINE))
        missing = [name for name in wanted if name not in present]
        sys.stdout.write(f".env is there and was left alone{'; it lacks ' + ', '.join(missing) if missing else ''}\n")
        return 1 if missing else 0
    values: dict[str, str] = {}
    for name in wanted:
        values[name] = fresh(name, values)
    text = re.sub(
        r"^([A-Z0-9_]+)=<generate>$", lambda line: f"{line[1]}={values[line[1]]}", example, flags=re.MULTILINE
    )
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    sys.stdout.write(".env written: it holds the secrets of this deployment, keep it safe\n")
    return 0


def fresh(name: str, values: Mapping[str, str]) -> str:
    """Returns a new secret for a setting, or the public halves of those keys that `values` has."""
    if name == "TOKEN_PUBLIC_KEYS":
        return token_keys.public_keys({one: values[token_keys.setting(one)] for one in token_keys.SERVICES})
    return token_keys.new_key() if name.endswith("_TOKEN_KEY") else secrets.token_hex(24)


if __name__ == "__main__":
    raise SystemExit(main())
