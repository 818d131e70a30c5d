"""Generates the keys with which the object store (SeaweedFS) requires credentials on each of its ports.

The store is several servers in one process, which present certificates to each other and sign their requests. Nobody
else needs these keys; clients have S3 keys of their own. `python -m service_kit.store_keys FOLDER` writes them once.
"""

from __future__ import annotations

import os
import secrets
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

SECURITY = "security.toml"
CERTIFICATE = "store.crt"
KEY = "store.key"
PRIVATE = 0o600
_ADDRESS = ip_address("127.0.0.1")  # the address at which the servers find each other, also in a container
_VALID = timedelta(days=3650)
_GRPC_SERVERS = ("master", "volume", "filer", "s3", "admin", "worker", "msg_broker", "mq")


def write_store_keys(folder: Path, mode: int = PRIVATE) -> None:
    """Writes a new `security.toml` for SeaweedFS, and the certificate and key that it names.

    `mode` is the files' mode. The folder must exist.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    _write(folder / KEY, pem, mode)
    _write(folder / CERTIFICATE, _certificate(key), mode)
    _write(folder / SECURITY, _security(folder).encode(), mode)  # last, because it shows that the others exist


def _certificate(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Returns a self-signed certificate, so that no key exists that could sign others."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "attractor-object-store")])
    now = datetime.now(UTC)
    usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usages, critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(_ADDRESS)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def _security(folder: Path) -> str:
    """Returns the configuration: mutual TLS between all servers, and signed requests to filer and volumes as well."""
    pair = f'cert = "{folder / CERTIFICATE}"\nkey = "{folder / KEY}"\n'
    authority = f'ca = "{folder / CERTIFICATE}"\n'
    signing = [
        f'[{name}]\nkey = "{secrets.token_hex(32)}"\n'
        for name in ("jwt.signing", "jwt.signing.read", "jwt.filer_signing", "jwt.filer_signing.read")
    ]
    grpc = [f"[grpc.{name}]\n{pair}" for name in (*_GRPC_SERVERS, "client")]
    password = f'[admin]\nuser = "admin"\npassword = "{secrets.token_hex(32)}"\n'
    https = [f"[https.{name}]\n{pair}{authority}" for name in ("master", "volume", "filer", "admin")]
    client = f"[https.client]\nenabled = true\n{pair}{authority}"
    return "\n".join([*signing, f"[grpc]\n{authority}", *grpc, *https, client, password])


def _write(path: Path, content: bytes, mode: int) -> None:
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
    part.replace(path)


def main(arguments: list[str]) -> int:
    """Writes the keys if there are none. A container has the folder to itself, and runs as another user."""
    folder = Path(arguments[0])
    if not (folder / SECURITY).exists():
        write_store_keys(folder, 0o444)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
