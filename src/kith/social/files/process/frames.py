"""Pictures that move without being films: animated GIF, PNG and WebP, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import GifImagePlugin, Image

from kith.social.files import limits
from kith.social.files.process.refusal import BROKEN, RefusedFile

Shape = Callable[[Image.Image], Image.Image]
Frame = tuple[Image.Image, int]

_WEBP: dict[str, Any] = {"quality": 85, "method": 1}


def frames_of(image: Image.Image, shape: Shape) -> list[Frame]:
    """Each frame in its `shape`, and for how many milliseconds it is seen.

    Empty for what stands still. Of a GIF only the first frames are taken if there are many; anything else that would
    take too long to write anew stands still.
    """
    count = getattr(image, "n_frames", 1)
    first = 1 if image.info.get("default_image") else 0  # of an animated PNG: what is shown where none are known
    if count - first < 2:
        return []
    if image.format == "GIF":
        GifImagePlugin.LOADING_STRATEGY = GifImagePlugin.LoadingStrategy.RGB_ALWAYS
        count = min(count, limits.ANIMATED_FRAMES)
    elif count > limits.ANIMATED_FRAMES or count * image.width * image.height > limits.ANIMATED_PIXELS:
        return []
    try:
        return [_frame(image, place, shape) for place in range(first, count)]
    except (MemoryError, RefusedFile):
        raise
    except Exception as error:
        raise RefusedFile(BROKEN) from error


def _frame(image: Image.Image, place: int, shape: Shape) -> Frame:
    image.seek(place)
    shaped = shape(image.convert("RGBA"))
    return shaped, int(image.info.get("duration", 0)) or 100


def save_moving(frames: list[Frame], folder: Path, form: str, *, profile: bytes = b"") -> str:
    """A GIF stays one; all others become WebP. The name of the file."""
    first, *others = [frame for frame, _ in frames]
    for frame in (first, *others):
        frame.info = {}
    kind, options = ("GIF", {"disposal": 2}) if form == "GIF" else ("WEBP", {**_WEBP, "icc_profile": profile})
    name = f"original.{kind.lower()}"
    first.save(
        folder / name,
        format=kind,
        save_all=True,
        append_images=others,
        duration=[duration for _, duration in frames],
        loop=0,
        **options,
    )
    return name
