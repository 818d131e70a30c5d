"""What becomes of the images that people send, without the walls around their decoder."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from orchestrator.graphs.conversation.routing import shows_images
from orchestrator.graphs.conversation.state import Turn
from orchestrator.images.child import rewritten
from orchestrator.images.limits import MISLABELLED, NOT_READ, TOO_LARGE, ImageLimits
from orchestrator.openai_api.data_urls import image_of
from orchestrator.openai_api.errors import Unsupported
from orchestrator.walled.child import WorkRefused


def picture(form: str = "PNG", size: tuple[int, int] = (8, 6), mode: str = "RGB", **more: Any) -> bytes:
    written = io.BytesIO()
    Image.new(mode, size, 1 if mode in ("1", "P") else "red").save(written, form, **more)
    return written.getvalue()


def opened(file: bytes, media_type: str) -> tuple[str, Image.Image, bytes]:
    info, data = rewritten(file, media_type, ImageLimits())
    image = Image.open(io.BytesIO(data))
    assert (info["width"], info["height"]) == image.size
    return info["media_type"], image, data


def test_a_photograph_is_rotated_upright_and_loses_its_personal_metadata() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x013B] = 6, "Jane of Secret Street"
    kept, image, data = opened(picture("JPEG", exif=exif, comment=b"secret"), "image/jpeg")
    assert (kept, image.size) == ("image/jpeg", (6, 8))
    assert not image.getexif()
    assert b"secret" not in data.lower()


def test_data_appended_to_an_image_is_removed() -> None:
    _, _, data = opened(picture() + b"PK\x03\x04<script>alert(1)</script>", "image/png")
    assert b"script" not in data


def test_the_first_frame_of_an_animation_is_kept() -> None:
    frames = [Image.new("RGB", (8, 6), colour) for colour in ("red", "blue")]
    written = io.BytesIO()
    frames[0].save(written, "GIF", save_all=True, append_images=frames[1:])
    kept, image, _ = opened(written.getvalue(), "image/gif")
    assert (kept, getattr(image, "n_frames", 1), image.convert("RGB").getpixel((0, 0))) == ("image/png", 1, (255, 0, 0))


def test_a_large_image_is_scaled_down_and_transparency_is_kept() -> None:
    kept, image, _ = opened(picture("WEBP", (4_000, 10)), "image/webp")
    assert (kept, image.size) == ("image/jpeg", (2_048, 5))
    kept, image, _ = opened(picture("PNG", mode="RGBA"), "image/png")
    assert (kept, image.mode) == ("image/png", "RGBA")


@pytest.mark.parametrize(
    ("file", "media_type", "reason"),
    [
        (picture("GIF", mode="P"), "image/png", MISLABELLED),
        (picture("BMP"), "image/png", NOT_READ),
        (b"", "image/png", NOT_READ),
        (picture("JPEG", (600, 600))[:-200], "image/jpeg", NOT_READ),
        (b"GIF89a" + b"%PDF-1.7 <html>" * 40, "image/gif", NOT_READ),
        (picture(size=(12_000, 12_000), mode="1"), "image/png", TOO_LARGE),
        (picture(size=(20_000, 20_000), mode="1"), "image/png", TOO_LARGE),
    ],
    ids=["mislabelled", "bmp", "empty", "cut", "polyglot", "bomb", "larger-bomb"],
)
def test_unsafe_or_invalid_images_are_refused(file: bytes, media_type: str, reason: str) -> None:
    with pytest.raises(WorkRefused) as refused:
        rewritten(file, media_type, ImageLimits())
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a.png",
        "http://127.0.0.1/a.png",
        "file:///etc/passwd",
        "data:image/svg+xml;base64,AAAA",
        "data:image/png,raw",
        "data:image/png;base64,?",
        None,
        {"url": 7},
    ],
)
def test_only_images_in_data_urls_are_accepted(url: object) -> None:
    with pytest.raises(Unsupported) as refused:
        image_of(url, "messages.0.content.1.image_url")
    assert refused.value.extra["param"] == "messages.0.content.1.image_url"
    assert image_of({"url": "data:image/png;base64,AAAA"}, "x").data == b"\0\0\0"


def test_a_question_with_images_is_routed_without_a_model() -> None:
    first, last = (Turn(id=name, role="user", content="What is it?") for name in "ab")
    first["images"] = ["1"]
    assert shows_images([first])
    assert not shows_images([first, Turn(id="c", role="assistant", content="x"), last])
