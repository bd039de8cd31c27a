from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.social.files.sniff import HEAD_BYTES, is_animated_gif, sniff
from tests.social import samples


def _ftyp(*brands: bytes) -> bytes:
    return struct.pack(">I", 8 + 4 * (len(brands) + 1)) + b"ftyp" + brands[0] + b"\0\0\0\0" + b"".join(brands[1:])


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"GIF87a\x01\0\x01\0", "image/gif"),
        (b"GIF89a\x01\0\x01\0", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (_ftyp(b"heic", b"mif1"), "image/heic"),
        (_ftyp(b"mif1", b"heic"), "image/heic"),
        (_ftyp(b"mif1", b"avif"), "image/avif"),
        (_ftyp(b"avif", b"mif1"), "image/avif"),
        (_ftyp(b"isom", b"avc1"), "video/mp4"),
        (_ftyp(b"mp42"), "video/mp4"),
        (_ftyp(b"3gp5", b"isom"), "video/mp4"),
        (_ftyp(b"nvr1", b"isom"), "video/mp4"),
        (_ftyp(b"qt  "), "video/quicktime"),
        (b"\0\0\0\x08wide\0\0\0\0mdat", "video/quicktime"),
        (_ftyp(b"M4A ", b"isom"), "audio/mp4"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01\x42\x82\x84webm", "video/webm"),
        (b"OggS\0\x02", "video/ogg"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "audio/wav"),
        (b"fLaC\0\0\0\x22", "audio/flac"),
        (b"ID3\x04\0\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio/aac"),
        (bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c"), "video/x-ms-asf"),
    ],
)
def test_what_is_taken_is_known_by_its_first_bytes(head: bytes, mime: str) -> None:
    found = sniff(head)

    assert found is not None
    assert found.mime == mime
    assert found.family == ("image" if mime.startswith("image/") else "moving")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\xff",
        b"<svg xmlns='http://www.w3.org/2000/svg'>",
        b"<!DOCTYPE html><script>",
        b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n",
        b"%PDF-1.7",
        b"PK\x03\x04",
        b"MZ\x90\0",
        b"\x7fELF\x02\x01\x01",
        b"BM\x36\0\0\0",
        b"II*\0\x08\0\0\0",
        b"ffconcat version 1.0\nfile /etc/passwd",
        b"\x1a\x45\xdf\xa3\xa3B\x86\x81\x01\x42\x82\x88matroska",
        b"RIFF\x10\0\0\0AVI LIST",
        _ftyp(b"jp2 "),
        b"\xff\xff\xff\xff",
        b"\xff\xe0\0\0",
        b"\0\0\x01\xba",
    ],
)
def test_whatever_else_comes_is_not_taken(head: bytes) -> None:
    assert sniff(head) is None


@given(
    st.binary(max_size=200), st.sampled_from([b"", b"\0\0\0\x18ftyp", b"RIFF\0\0\0\0", b"\x1a\x45\xdf\xa3", b"\xff"])
)
def test_nothing_that_is_sent_breaks_it(rest: bytes, start: bytes) -> None:
    found = sniff((start + rest)[:HEAD_BYTES])

    assert found is None or found.mime.partition("/")[0] in {"image", "video", "audio"}


@pytest.mark.parametrize(("frames", "moves"), [(1, False), (2, True), (5, True)])
def test_a_gif_is_animated_if_a_second_picture_follows(frames: int, moves: bool) -> None:
    whole = samples.gif(frames)

    assert is_animated_gif(io.BytesIO(whole)) is moves
    assert is_animated_gif(io.BytesIO(whole[:60])) is False


@given(st.binary(max_size=400))
def test_a_broken_gif_comes_to_an_end(rest: bytes) -> None:
    assert is_animated_gif(io.BytesIO(b"GIF89a" + rest)) in (True, False)


def test_a_gif_in_ever_so_many_blocks_is_not_walked_to_its_end() -> None:
    class Counted(io.BytesIO):
        reads = 0

        def read(self, size: int | None = -1) -> bytes:
            Counted.reads += 1
            return super().read(size)

    blocks = b"\x01A" * 1_000_000

    assert is_animated_gif(Counted(b"GIF89a" + bytes([16, 0, 16, 0, 0, 0, 0]) + b"\x21\xfe" + blocks)) is True
    assert Counted.reads < 300_000
