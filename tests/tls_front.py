"""A certificate authority of a test, and TLS in front of an engine that speaks none."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SSL_REQUEST = bytes.fromhex("0000000804d2162f")  # what a client of PostgreSQL sends before TLS


@dataclass(frozen=True)
class OwnAuthority:
    """An authority that no system knows: its certificate, and a server's certificate for `localhost`."""

    certificate: Path
    server: ssl.SSLContext

    @classmethod
    def made(cls, folder: Path) -> OwnAuthority:
        folder.mkdir()
        key, name = ec.generate_private_key(ec.SECP256R1()), _name("A company's own authority")
        root = _signed(name, name, key.public_key(), key, x509.BasicConstraints(ca=True, path_length=0))
        own = ec.generate_private_key(ec.SECP256R1())
        leaf = _signed(
            _name("localhost"), name, own.public_key(), key, x509.SubjectAlternativeName([x509.DNSName("localhost")])
        )
        pem = serialization.Encoding.PEM
        plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        (folder / "authority.pem").write_bytes(root.public_bytes(pem))
        (folder / "server.pem").write_bytes(leaf.public_bytes(pem) + own.private_bytes(pem, *plain))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem")
        return cls(folder / "authority.pem", context)

    @asynccontextmanager
    async def before(self, address: str, *, postgres: bool = False) -> AsyncIterator[int]:
        """Yields a port of localhost that takes TLS and passes the content to `address` (host:port)."""
        host, _, port = address.rpartition(":")

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                if postgres:
                    assert await reader.readexactly(8) == SSL_REQUEST
                    writer.write(b"S")
                    await writer.start_tls(self.server)
                behind_reader, behind_writer = await asyncio.open_connection(host, int(port))
                async with asyncio.TaskGroup() as both:
                    both.create_task(_copy(reader, behind_writer))
                    both.create_task(_copy(behind_reader, writer))
            except (OSError, asyncio.IncompleteReadError):
                """The client does not trust the certificate, or has gone."""
            finally:
                writer.close()

        listener = await asyncio.start_server(serve, "localhost", 0, ssl=None if postgres else self.server)
        async with listener:
            yield listener.sockets[0].getsockname()[1]


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
    finally:
        writer.close()


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    key: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(issuer, subject, public, x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
