"""Decodes and re-encodes images in walled processes, outside the event loop."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass

from contracts.images import IMAGE_TYPES, MOST_IMAGE_BYTES
from orchestrator.errors import ImageNotRead, ImagesBusy, ImageTooLarge, NotAnImage
from orchestrator.images.limits import MISLABELLED, PIECE_BYTES, TOO_LARGE, ImageLimits
from service_kit.problems import Unavailable
from service_kit.sandbox import Sandbox, SandboxConfig, SandboxedProcess, SandboxUnavailable

TASK, PRELOAD = "orchestrator.images.child:serve", "orchestrator.images.child"
WAITING_FOR_EACH = 16  # images that may wait, per image that is being decoded
BEGINNINGS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


@dataclass(frozen=True)
class SentImage:
    """An image as it was sent; untrusted."""

    media_type: str
    data: bytes


@dataclass(frozen=True)
class KeptImage:
    """An image as it is kept: PNG or JPEG, only pixels."""

    media_type: str
    width: int
    height: int
    data: bytes


class ImageDecoder:
    """Runs one process per image. The fork server is started with the first."""

    def __init__(self, limits: ImageLimits) -> None:
        self.limits = limits
        self._sandbox = Sandbox(SandboxConfig(TASK, PRELOAD))
        self._places = asyncio.Semaphore(limits.at_once)
        self._most, self._present = limits.at_once * (1 + WAITING_FOR_EACH), 0

    async def aclose(self) -> None:
        """Ends decoding in progress, which fails for its callers."""
        await asyncio.to_thread(self._sandbox.close)

    async def decode(self, sent: SentImage) -> KeptImage:
        """Raises NotAnImage, ImageTooLarge, ImageNotRead, ImagesBusy, Unavailable."""
        if sent.media_type not in IMAGE_TYPES:
            raise NotAnImage
        if len(sent.data) > MOST_IMAGE_BYTES:
            raise ImageTooLarge(f"An image has at most {MOST_IMAGE_BYTES >> 20} MiB")
        if self._present >= self._most:
            raise ImagesBusy
        self._present += 1
        try:
            async with self._places:
                return await self._decoded(sent)
        finally:
            self._present -= 1

    async def _decoded(self, sent: SentImage) -> KeptImage:
        try:
            process = await asyncio.to_thread(self._sandbox.start)
        except SandboxUnavailable as error:
            raise Unavailable("No process could be started for the image") from error
        try:
            return await asyncio.to_thread(self._read, process, sent)
        finally:
            await asyncio.shield(asyncio.to_thread(process.end))  # even if the caller has disconnected

    def _read(self, process: SandboxedProcess, sent: SentImage) -> KeptImage:
        deadline = time.monotonic() + self.limits.seconds
        try:
            process.send(json.dumps({"media_type": sent.media_type, "limits": asdict(self.limits)}).encode())
            process.send(sent.data)
            reply = json.loads(self._next(process, deadline))
            if "refused" in reply:
                raise _refusal(str(reply["refused"]), str(reply["message"])[:200])
            media_type, size = str(reply["media_type"]), int(reply["bytes"])
            width, height = int(reply["width"]), int(reply["height"])
            if not (0 < size <= self.limits.output_bytes and 0 < width <= self.limits.side >= height > 0):
                raise ValueError(size)
            written = bytearray()
            while len(written) < size:
                written += self._next(process, deadline)
            # The image may have taken control of the process.
            if len(written) != size or not written.startswith(BEGINNINGS[media_type]):
                raise ValueError(media_type)
        except (EOFError, OSError):
            raise ImageTooLarge("Decoding it takes more memory or time than allowed") from None
        except (ValueError, TypeError, KeyError) as error:
            raise ImageNotRead("The decoder sent an invalid answer") from error
        return KeptImage(media_type, width, height, bytes(written))

    def _next(self, process: SandboxedProcess, deadline: float) -> bytes:
        message = process.receive(max(0.0, deadline - time.monotonic()), PIECE_BYTES)
        if message is None:
            raise ImageTooLarge(f"It was not decoded within {self.limits.seconds:g} s")
        return message


def _refusal(reason: str, message: str) -> NotAnImage | ImageTooLarge | ImageNotRead:
    if reason == TOO_LARGE:
        return ImageTooLarge(message)
    return NotAnImage(message) if reason == MISLABELLED else ImageNotRead(message)
