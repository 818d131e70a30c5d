"""Pins each image in .env to a digest in addition to its tag: `redis:8@sha256:...`.

Pulls the images that the tags name now; run it again to update. Standard library only.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import new_env

IMAGE = re.compile(r"\$\{([A-Z0-9_]+_IMAGE):-([^}]+)\}")


class NotInARegistry(Exception):
    """The image was built on this machine, so it has no digest of a registry."""


def main(root: Path = new_env.ROOT) -> int:
    """Returns 0; returns 1 and leaves .env unchanged on failure. Raises FileNotFoundError without .env or Docker."""
    target = root / ".env"
    text = target.read_text(encoding="utf-8")
    known = new_env.values(text)
    try:
        pinned = {name: pin(image) for name, image in images((root / "compose.yaml").read_text("utf-8"), known)}
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{' '.join(error.cmd)}: {error.stderr.strip()}\n.env is as it was.\n")
        return 1
    except NotInARegistry as error:
        sys.stderr.write(f"{error} was built on this machine and has no digest. .env is as it was.\n")
        return 1
    new_env.write(target, with_values(text, pinned), 0o600)
    sys.stdout.write("".join(f"{name}={image}\n" for name, image in pinned.items()))
    return 0


def images(compose: str, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields (variable, image with its tag) for each image that Compose pulls from a registry."""
    for name, default in dict(IMAGE.findall(compose)).items():
        yield name, (known.get(name) or default).partition("@")[0]


def pin(image: str) -> str:
    """Returns the image with its digest in the registry. Raises NotInARegistry, CalledProcessError."""
    _docker("pull", "--quiet", image)
    digests = json.loads(_docker("image", "inspect", "--format", "{{json .RepoDigests}}", image)) or []
    repository = re.sub(r":[^:/]+$", "", image)
    for digest in digests:
        if digest.partition("@")[0] == repository:
            return f"{image}@{digest.partition('@')[2]}"
    raise NotInARegistry(image)


def with_values(text: str, changed: Mapping[str, str]) -> str:
    """Returns the text of .env with these values replaced, or appended if missing."""
    for name, value in changed.items():
        line = f"{name}={value}"
        text, replaced = re.subn(rf"^(?:export\s+)?{name}=.*$", line, text, flags=re.MULTILINE)
        text += "" if replaced else f"{line}\n"
    return text


def _docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
