"""What a file is by its first bytes, whatever its name and its sender say."""

from __future__ import annotations

from typing import IO, Literal

import msgspec

__all__ = ["HEAD_BYTES", "Sniffed", "is_animated_gif", "sniff"]

HEAD_BYTES = 4096


class Sniffed(msgspec.Struct, frozen=True):
    """`moving` covers all that plays: whether it holds pictures or only sound is seen when it is opened."""

    mime: str
    family: Literal["image", "moving"]


_HEIF = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}
_AVIF = {b"avif", b"avis"}
_QUICKTIME = {b"qt  "}
_SOUND = {b"M4A ", b"M4B ", b"M4P "}
_VIDEO = {
    b"isom", b"iso2", b"iso3", b"iso4", b"iso5", b"iso6", b"iso7", b"iso8", b"iso9", b"mp41", b"mp42", b"mp71",
    b"avc1", b"dash", b"M4V ", b"M4VP", b"MSNV", b"XAVC", b"f4v ", b"3gp4", b"3gp5", b"3gp6", b"3gp7", b"3gg6",
    b"3g2a", b"3g2b", b"3g2c",
}  # fmt: skip
_OLD_QUICKTIME = {b"moov", b"mdat", b"wide"}

# Blocks of a GIF, which hold 255 bytes each where they are not made to be many: those of 16 MB and a little more.
MOST_BLOCKS = 100_000

_ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
_PLAIN: tuple[tuple[bytes, Sniffed], ...] = (
    (b"\xff\xd8\xff", Sniffed("image/jpeg", "image")),
    (b"\x89PNG\r\n\x1a\n", Sniffed("image/png", "image")),
    (b"GIF87a", Sniffed("image/gif", "image")),
    (b"GIF89a", Sniffed("image/gif", "image")),
    (b"OggS\x00", Sniffed("video/ogg", "moving")),
    (b"fLaC\x00", Sniffed("audio/flac", "moving")),
    (b"ID3", Sniffed("audio/mpeg", "moving")),
    (_ASF, Sniffed("video/x-ms-asf", "moving")),
)


def sniff(head: bytes) -> Sniffed | None:
    """What a file that begins with `head` is; None for all that is not taken. `HEAD_BYTES` of it are enough."""
    for magic, found in _PLAIN:
        if head.startswith(magic):
            return found
    if head[:4] == b"RIFF":
        return _riff(head[8:12])
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return Sniffed("video/webm", "moving") if b"\x42\x82\x84webm" in head[:HEAD_BYTES] else None
    if head[4:8] == b"ftyp":
        return _boxes(head)
    if head[4:8] in _OLD_QUICKTIME:
        return Sniffed("video/quicktime", "moving")
    return _frames(head)


def _riff(form: bytes) -> Sniffed | None:
    if form == b"WEBP":
        return Sniffed("image/webp", "image")
    if form == b"WAVE":
        return Sniffed("audio/wav", "moving")
    return None


def _boxes(head: bytes) -> Sniffed | None:
    """The family of MP4: the first box names the brands, the main one first."""
    size = int.from_bytes(head[:4], "big")
    brands = [head[8:12], *(head[at : at + 4] for at in range(16, min(size, len(head), 1024) - 3, 4))]
    if brands[0] in _HEIF | _AVIF:
        is_avif = brands[0] in _AVIF or (brands[0] in {b"mif1", b"msf1"} and not _AVIF.isdisjoint(brands))
        return Sniffed("image/avif" if is_avif else "image/heic", "image")
    for known, mime in ((_QUICKTIME, "video/quicktime"), (_SOUND, "audio/mp4"), (_VIDEO, "video/mp4")):
        if brands[0] in known:
            return Sniffed(mime, "moving")
    return Sniffed("video/mp4", "moving") if not _VIDEO.isdisjoint(brands) else None


def _frames(head: bytes) -> Sniffed | None:
    """Sound without a container begins with the header of its first frame; every field must make sense."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    layer = (head[1] >> 1) & 3
    if layer == 0 and head[1] & 0xF0 == 0xF0:  # AAC
        return Sniffed("audio/aac", "moving") if (head[2] >> 2) & 15 < 13 else None
    version, bitrate, rate = (head[1] >> 3) & 3, head[2] >> 4, (head[2] >> 2) & 3
    is_mp3 = layer == 1 and version != 1 and bitrate not in (0, 15) and rate != 3
    return Sniffed("audio/mpeg", "moving") if is_mp3 else None


def is_animated_gif(file: IO[bytes]) -> bool:
    """Whether a second picture follows the first; a GIF that ends early has as many as it has.

    Nor is one in more blocks than a picture needs a still one, as far as anybody looks here.
    """
    file.seek(0)
    screen = file.read(13)
    if len(screen) < 13:
        return False
    file.seek(_colours(screen[10]), 1)
    pictures, left = 0, MOST_BLOCKS
    while (kind := file.read(1)) in (b"\x21", b"\x2c"):
        if kind == b"\x21":
            file.seek(1, 1)
        else:
            pictures += 1
            if pictures == 2:
                return True
            place = file.read(9)
            if len(place) < 9:
                return False
            file.seek(_colours(place[8]) + 1, 1)
        while size := file.read(1):
            left -= 1
            if left < 0:
                return True
            if size == b"\0":
                break
            file.seek(size[0], 1)
    return False


def _colours(flags: int) -> int:
    """How long the table of colours is that such flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0
