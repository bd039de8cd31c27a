"""Still pictures: opened within limits, turned the right way up, and written anew without what they told of us."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import blurhash_rs
import pi_heif  # type: ignore[import-untyped]
from PIL import AvifImagePlugin, Image, ImageOps

from kith.social.files import limits
from kith.social.files.process.frames import frames_of, save_moving
from kith.social.files.process.refusal import BROKEN, RefusedFile

_FORMATS = {
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/avif": "AVIF",
    "image/heic": "HEIF",
}
_KEPT = {"JPEG": ("JPEG", "jpg"), "PNG": ("PNG", "png"), "WEBP": ("WEBP", "webp"), "GIF": ("PNG", "png")}
_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 90, "progressive": True, "optimize": True},
    "WEBP": {"quality": 90, "method": 4},
    "PNG": {"compress_level": 6},
}
_SCAN = b"\xff\xda"  # begins a scan; within the data of one these two never stand together
_ICC_BYTES = 1 << 20
_HASH_SIDE = 64
_WHITE = (255, 255, 255)


def open_image(path: Path, mime: str) -> Image.Image:
    """`path` as an image of exactly the kind that was sniffed; nothing is decoded before its size is known."""
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1
    if mime == "image/heic":
        pi_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=1)
    Image.MAX_IMAGE_PIXELS = None
    try:
        image = Image.open(path, formats=[_FORMATS[mime]])
    except Exception as error:
        raise RefusedFile(BROKEN) from error
    width, height = image.size
    if width * height > limits.IMAGE_PIXELS:
        raise RefusedFile(f"{width}x{height} images are not supported")
    Image.MAX_IMAGE_PIXELS = limits.IMAGE_PIXELS
    if image.format == "JPEG" and path.read_bytes().count(_SCAN) > limits.JPEG_SCANS:
        raise RefusedFile(BROKEN)
    return image


def upright(image: Image.Image, most: int) -> tuple[Image.Image, bytes]:
    """The picture as it is meant to be seen, in a plain mode, and the profile of its colours.

    One that is far larger than the `most` pixels needed is decoded smaller, where its format can do that.
    """
    scale = _scale(image.size, most)
    if scale < 1 and image.format == "JPEG":
        image.draft("RGB" if image.mode == "RGB" else None, (int(image.width * scale), int(image.height * scale)))
    profile = image.info.get("icc_profile") or b""
    try:
        image.load()
        plain = _plain(ImageOps.exif_transpose(image))
    except (MemoryError, RefusedFile):
        raise
    except Exception as error:
        raise RefusedFile(BROKEN) from error
    return plain, profile


def _plain(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):  # 16 bits of grey
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.mode == "P":
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode in ("L", "RGB") and "transparency" in image.info:
        return image.convert("RGBA")
    if image.mode in ("1", "L", "LA", "RGB", "RGBA"):
        return image
    return image.convert("RGBA" if image.mode in ("PA", "La", "RGBa") else "RGB")


def _scale(size: tuple[int, int], most: int) -> float:
    return min(1.0, math.sqrt(most / (size[0] * size[1])))


def shrink(image: Image.Image, most: int) -> Image.Image:
    """At most `most` pixels, the proportions kept, nothing cut off."""
    scale = _scale(image.size, most)
    if scale == 1.0:
        return image
    size = max(1, int(image.width * scale)), max(1, int(image.height * scale))
    if image.mode == "1":
        image = image.convert("L")
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def flat(image: Image.Image) -> Image.Image:
    """Without anything to see through; what was behind is white."""
    if image.mode in ("RGB", "L"):
        return image
    if image.mode in ("RGBA", "LA"):
        seen = image.convert("RGBA")
        ground = Image.new("RGB", image.size, _WHITE)
        ground.paste(seen, mask=seen.getchannel("A"))
        return ground
    return image.convert("RGB")


def save(image: Image.Image, folder: Path, name: str, form: str, profile: bytes) -> str:
    """Write `image` and nothing that came along with it; the name of the file."""
    kind, extension = _KEPT.get(form, ("JPEG", "jpg"))
    clean = flat(image) if kind == "JPEG" else image.copy()
    clean.info = {}
    if kind == "WEBP" and clean.mode not in ("RGB", "RGBA"):
        clean = clean.convert("RGBA" if clean.mode == "LA" else "RGB")
    options = _OPTIONS[kind] | ({"icc_profile": profile} if _fits(profile, clean.mode) else {})
    clean.save(folder / f"{name}.{extension}", format=kind, **options)
    return f"{name}.{extension}"


def _fits(profile: bytes, mode: str) -> bool:
    """Whether a profile speaks of such colours: those of print, or of another number of channels, do not."""
    spoken = b"GRAY" if mode in ("1", "L", "LA") else b"RGB "
    return 128 <= len(profile) <= _ICC_BYTES and profile[16:20] == spoken


def blurhash(image: Image.Image) -> str:
    small = flat(image).convert("RGB")
    small.thumbnail((_HASH_SIDE, _HASH_SIDE))
    return blurhash_rs.blurhash_encode(small, 4, 4)


def measures(image: Image.Image) -> dict[str, Any]:
    width, height = image.size
    return {"width": width, "height": height, "size": f"{width}x{height}", "aspect": width / height}


def still(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    """An attachment that is a picture. An animated PNG or WebP keeps moving; its preview does not."""
    image = open_image(path, mime)
    form = image.format or ""
    profile = image.info.get("icc_profile") or b""
    frames = frames_of(image, lambda frame: shrink(frame, limits.GIF_PIXELS)) if form in ("PNG", "WEBP") else []
    if frames:
        profile = profile if _fits(profile, "RGBA") else b""
        return _report(frames[0][0], save_moving(frames, folder, form, profile=profile), folder, form, profile)
    whole, profile = upright(image, limits.STORED_PIXELS)
    original = shrink(whole, limits.STORED_PIXELS)
    return _report(original, save(original, folder, "original", form, profile), folder, form, profile)


def _report(original: Image.Image, file: str, folder: Path, form: str, profile: bytes) -> dict[str, Any]:
    small = shrink(original, limits.PREVIEW_PIXELS)
    return {
        "kind": "image",
        "file": file,
        "preview": save(small, folder, "small", form, profile),
        "meta": {"original": measures(original), "small": measures(small)},
        "blurhash": blurhash(small),
    }


def preview(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    """A picture that stands for something else: a thumbnail, a cover, the picture of a link."""
    image = open_image(path, mime)
    form = image.format or ""
    whole, profile = upright(image, limits.PREVIEW_PIXELS)
    small = shrink(whole, limits.PREVIEW_PIXELS)
    return {
        "kind": "image",
        "file": save(small, folder, "small", form, profile),
        "meta": {"small": measures(small)},
        "blurhash": blurhash(small),
    }


def header(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    return _profile_picture(folder, path, mime, lambda image: shrink(image, limits.HEADER_PIXELS))


def avatar(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    side = limits.AVATAR_SIDE
    return _profile_picture(
        folder, path, mime, lambda image: ImageOps.fit(image, (side, side), Image.Resampling.LANCZOS)
    )


def _profile_picture(folder: Path, path: Path, mime: str, shape: Any) -> dict[str, Any]:
    """One that moves keeps moving, and has a second file that stands still."""
    image = open_image(path, mime)
    form = image.format or ""
    frames = frames_of(image, shape)
    if frames:
        file = save_moving(frames, folder, form)
        static = save(frames[0][0], folder, "static", "PNG", b"")
        return {"kind": "image", "file": file, "static": static, "meta": {"original": measures(frames[0][0])}}
    whole, profile = upright(image, limits.STORED_PIXELS)
    shaped = shape(whole)
    return {
        "kind": "image",
        "file": save(shaped, folder, "original", form, profile),
        "meta": {"original": measures(shaped)},
    }
