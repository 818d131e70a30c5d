"""Writes .env with fresh secrets, and each secret to a file of its own, which Compose mounts where it is needed.

Creates .env from .env.example, or adds the secrets that an older .env lacks; then writes .secrets/. Run it again
after changing a secret in .env. Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import token_keys

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "infra" / "embedded" / "src"))
from embedded import redis_acl  # noqa: E402  the table of Redis users, which both ways to run share

SERVICES = ("gateway", "orchestrator", "ingestion", "retrieval", "knowledge_graph", "memory")
# Credentials of external services; each is optional.
OF_OTHERS = (
    *("chat_api_key", "embedding_api_key", "embedding_models", "rerank_api_key"),
    "entailment_api_key",
    *("source_s3_connections", "web_proxy", "oidc_client_secret"),
)
_SIZES = {"SETTINGS_KEY": 32}  # bytes; the others have 24
_LINE = re.compile(r"^(?:export\s+)?([A-Z0-9_]+)=(.*)$", re.MULTILINE)
_GENERATED = re.compile(r"^([A-Z0-9_]+)=<generate>$", re.MULTILINE)


def main(root: Path = ROOT) -> int:
    """Returns 0. Raises OSError if a file cannot be written."""
    example, target = (root / ".env.example").read_text(encoding="utf-8"), root / ".env"
    if target.exists():
        text, added = completed(target.read_text(encoding="utf-8"), _GENERATED.findall(example))
        outcome = f"new secrets were added: {', '.join(added)}" if added else "it has all secrets"
    else:
        made = fresh(_GENERATED.findall(example), {})
        text, outcome = (
            _GENERATED.sub(lambda line: f"{line[1]}={made[line[1]]}", example),
            "it was written, keep it safe",
        )
    write(target, text, 0o600)
    folder = root / ".secrets"
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    for name, content in files(values(text)).items():
        # Containers read them under their own users; on this machine, the folder's mode keeps other users out.
        write(folder / name, content, 0o444)
    sys.stdout.write(f".env: {outcome}. The containers' secrets are in .secrets/\n")
    return 0


def completed(text: str, wanted: list[str]) -> tuple[str, list[str]]:
    """Returns the text with a fresh secret for each name in `wanted` that has none, and the names that were added.

    ADMIN_API_KEY is never added: an operator who has removed it has administrators with their own keys.
    """
    known = values(text)
    missing = [name for name in wanted if not known.get(name) and name != "ADMIN_API_KEY"]
    lines = "".join(f"{name}={value}\n" for name, value in fresh(missing, known).items())
    return (text if text.endswith("\n") or not text else text + "\n") + lines, missing


def fresh(names: list[str], known: Mapping[str, str]) -> dict[str, str]:
    """Returns a new secret for each name; TOKEN_PUBLIC_KEYS gets the public halves of all keys, new and known."""
    made: dict[str, str] = {}
    for name in names:
        if name != "TOKEN_PUBLIC_KEYS":
            made[name] = (
                token_keys.new_key() if name.endswith("_TOKEN_KEY") else secrets.token_hex(_SIZES.get(name, 24))
            )
    if "TOKEN_PUBLIC_KEYS" in names:
        keys = {**known, **made}
        made["TOKEN_PUBLIC_KEYS"] = token_keys.public_keys(
            {one: keys[token_keys.setting(one)] for one in token_keys.SERVICES}
        )
    return made


def values(text: str) -> dict[str, str]:
    """Returns the variables of a .env file; handles quotes and comments like Compose, without interpolation."""
    return {name: _unquoted(value.strip()) for name, value in _LINE.findall(text)}


def files(env: Mapping[str, str]) -> dict[str, str]:
    """Returns the content of each secret file by its name, the `source` in compose.yaml."""
    own = {f"{name}_database_url": _database(f"attractor_{name}", env[f"{name.upper()}_DATABASE_PASSWORD"])
           for name in SERVICES}  # fmt: skip
    own["backup_database_url"] = _database("attractor_backup", env["BACKUP_DATABASE_PASSWORD"])
    own |= {
        f"{user.replace('-', '_')}_redis_url": _redis(user, env[_redis_password(user)])
        for user in redis_acl.USERS
        if user != redis_acl.MONITOR
    }
    own["monitor_database_url"] = _database("attractor_monitor", env["MONITOR_DATABASE_PASSWORD"])
    own["monitor_database_password"] = env["MONITOR_DATABASE_PASSWORD"]
    exporter = f"redis://{redis_acl.MONITOR}@redis:6379"  # the form in which Redis' exporter wants its password
    own["redis_exporter.json"] = json.dumps({exporter: env[_redis_password(redis_acl.MONITOR)]})
    own |= {f"{name}_token_key": env[f"{name.upper()}_TOKEN_KEY"] for name in SERVICES}
    keys = {"accessKey": env["S3_ACCESS_KEY"], "secretKey": env["S3_SECRET_KEY"]}
    identity = {"name": "attractor", "credentials": [keys], "actions": ["Admin"]}
    return {
        **own,
        **{name: env.get(name.upper(), "") for name in (*OF_OTHERS, "admin_api_key")},
        "admin_database_url": _database("postgres", env["POSTGRES_PASSWORD"]),
        "postgres_password": env["POSTGRES_PASSWORD"],
        "redis.acl": redis_acl.rendered(lambda user: env[_redis_password(user)]),
        "settings_key": env["SETTINGS_KEY"],
        "neo4j_password": env["NEO4J_PASSWORD"],
        "neo4j_auth": f"neo4j/{env['NEO4J_PASSWORD']}",
        "s3_access_key": env["S3_ACCESS_KEY"],
        "s3_secret_key": env["S3_SECRET_KEY"],
        "s3.json": json.dumps({"identities": [identity]}),
    }


def _database(role: str, password: str) -> str:
    return f"postgresql://{role}:{quote(password, safe='')}@postgres:5432/attractor"


def _redis(user: str, password: str) -> str:
    return f"redis://{user}:{quote(password, safe='')}@redis:6379/0"


def _redis_password(user: str) -> str:
    """Returns the name of the variable with this user's password."""
    return f"REDIS_{user.upper().replace('-', '_')}_PASSWORD"


def _unquoted(value: str) -> str:
    if value[:1] in {"'", '"'} and (end := value.find(value[0], 1)) > 0:
        return value[1:end]
    return "" if value.startswith("#") else re.split(r"\s#", value)[0].strip()


def write(path: Path, content: str, mode: int) -> None:
    """Replaces the content of a file but keeps its inode, because a running container would not see a new one."""
    if path.exists() and path.read_text(encoding="utf-8") == content:
        return
    if path.exists():
        path.chmod(0o600)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(content)
    path.chmod(mode)


if __name__ == "__main__":
    raise SystemExit(main())
