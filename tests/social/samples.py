"""Small files of every kind, made when they are needed."""

from __future__ import annotations

import io
import math
import struct
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.video.frame import VideoFrame
from PIL import Image, ImageCms, ImageDraw

Size = tuple[int, int]
_FILES = Path(__file__).parent / "files"


def picture(size: Size = (80, 60), mode: str = "RGB") -> Image.Image:
    """Red at the top left, blue everywhere else, so that which way is up can be told."""
    image = Image.new(mode, size, "blue" if mode != "L" else 90)
    ImageDraw.Draw(image).rectangle((0, 0, size[0] // 2, size[1] // 2), fill="red" if mode != "L" else 200)
    return image


def image_file(form: str, size: Size = (80, 60), mode: str = "RGB", **options: Any) -> bytes:
    file = io.BytesIO()
    picture(size, mode).save(file, form, **options)
    return file.getvalue()


def camera_jpeg(size: Size = (80, 60), orientation: int = 6) -> bytes:
    """As a telephone takes it: turned, with its owner's whereabouts, a remark and a profile of its colours."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "SECRETMAKER"
    place = exif.get_ifd(0x8825)
    place[1], place[2] = "N", (52.0, 31.0, 12.0)
    place[3], place[4] = "E", (13.0, 24.0, 18.0)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return image_file("JPEG", size, exif=exif, icc_profile=profile, comment=b"SECRETREMARK")


def gif(frames: int = 4, size: Size = (33, 21), duration: int = 100) -> bytes:
    file = io.BytesIO()
    pictures = [picture(size) if count % 2 else Image.new("RGB", size, "green") for count in range(frames)]
    pictures[0].save(file, "GIF", save_all=frames > 1, append_images=pictures[1:], duration=duration, loop=0)
    return file.getvalue()


def animated(form: str, frames: int = 3, size: Size = (40, 30), duration: int = 120, **options: Any) -> bytes:
    """A picture that moves, with something to see through: red, then green, then red."""
    file = io.BytesIO()
    pictures = [
        Image.new("RGBA", size, (255, 0, 0, 255) if count % 2 == 0 else (0, 255, 0, 0)) for count in range(frames)
    ]
    pictures[0].save(file, form, save_all=True, append_images=pictures[1:], duration=duration, loop=0, **options)
    return file.getvalue()


def video(
    form: str = "mp4",
    codec: str = "libx264",
    size: Size = (64, 48),
    *,
    sound: str = "",
    frames: int = 10,
    pix_fmt: str = "yuv420p",
    rate: int = 10,
    **tags: str,
) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format=form) as target:
        target.metadata.update(tags)
        seen = target.add_stream(codec, rate=rate)
        assert isinstance(seen, av.VideoStream)
        seen.width, seen.height = size
        seen.pix_fmt = pix_fmt
        heard = target.add_stream(sound, rate=48_000, layout="stereo") if sound else None
        for count in range(frames):
            frame = VideoFrame.from_image(picture(size))  # type: ignore[no-untyped-call]
            frame.pts, frame.time_base = count, Fraction(1, rate)
            target.mux(seen.encode(frame))
        target.mux(seen.encode(None))
        if heard is not None:
            assert isinstance(heard, av.AudioStream)
            for frame in _tone(frames / rate, 48_000):
                target.mux(heard.encode(frame))
            target.mux(heard.encode(None))
    return file.getvalue()


def sound(form: str, codec: str, *, rate: int = 44_100, seconds: float = 0.3, **tags: str) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format=form) as target:
        target.metadata.update(tags)
        heard = target.add_stream(codec, rate=rate, layout="stereo")
        assert isinstance(heard, av.AudioStream)
        for frame in _tone(seconds, rate):
            target.mux(heard.encode(frame))
        target.mux(heard.encode(None))
    return file.getvalue()


def slow_sound(samples: int = 40_000) -> bytes:
    """A WAV of a sample in a second: eleven hours in 40 KB."""
    head = struct.pack("<4sIHHIIHH4sI", b"fmt ", 16, 1, 1, 1, 1, 1, 8, b"data", samples)
    return b"RIFF" + struct.pack("<I", len(head) + 4 + samples) + b"WAVE" + head + bytes(samples)


def mp3_with_cover(cover: bytes, mime: str = "image/png") -> bytes:
    """An ID3 tag of version 2.3 with one picture, before plain frames of sound."""
    body = b"\0" + mime.encode() + b"\0\x03\0" + cover
    frame = b"APIC" + struct.pack(">I", len(body)) + b"\0\0" + body
    place = b"TXXX" + struct.pack(">I", 16) + b"\0\0" + b"\0where\0SECRETLOC"
    size = len(frame) + len(place)
    synchsafe = bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x03\0\0" + synchsafe + frame + place + sound("mp3", "libmp3lame")


def _tone(seconds: float, rate: int) -> list[AudioFrame]:
    frames = []
    for start in range(0, int(seconds * rate), 1024):
        wave = b"".join(
            struct.pack("<hh", value, value)
            for value in (int(8000 * math.sin((start + place) / 20)) for place in range(1024))
        )
        frame = AudioFrame(format="s16", layout="stereo", samples=1024)
        frame.planes[0].update(wave)
        frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
        frames.append(frame)
    return frames


def turned(mp4: bytes) -> bytes:
    """The same video as if the camera had been held upright: only the matrix in its header says so."""
    at = mp4.index(b"tkhd") + 4 + 40
    quarter = struct.pack(">9i", 0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30)
    return mp4[:at] + quarter + mp4[at + 36 :]


def png_header(width: int, height: int) -> bytes:
    """Little more than the claim to be so large."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def many_frames_gif(frames: int, size: Size) -> bytes:
    """A large canvas, and a great many frames of one pixel each, in a handful of bytes per frame."""
    head = b"GIF89a" + struct.pack("<HHBBB", *size, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    dot = b"\x21\xf9\x04\x00\x01\0\0\0" + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return head + dot * frames + b"\x3b"


def many_scans_jpeg(scans: int, size: Size) -> bytes:
    """A progressive picture whose last scan, a few bytes, is there again and again: each goes over all of it."""
    made = io.BytesIO()
    Image.new("L", size).save(made, "JPEG", progressive=True, quality=1)
    data = made.getvalue()
    last = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + last * scans + data[-2:]


def heic(size: Size = (64, 64)) -> bytes:
    """One still picture in HEVC, in the boxes that an iPhone uses.

    Kept as files: their encoder (x265) now and then makes something else, or nothing, on a busy machine.
    """
    return (_FILES / f"{size[0]}x{size[1]}.heic").read_bytes()
