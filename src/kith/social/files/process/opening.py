"""Opening what plays: as the one format it was sniffed to be, so that it can lead to no other file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from kith.social.files.process.refusal import BROKEN, RefusedFile

_FORMATS = {
    "image/gif": "gif",
    "video/mp4": "mov",
    "video/quicktime": "mov",
    "audio/mp4": "mov",
    "video/webm": "matroska",
    "video/ogg": "ogg",
    "audio/flac": "flac",
    "audio/mpeg": "mp3",
    "audio/aac": "aac",
    "audio/wav": "wav",
    "video/x-ms-asf": "asf",
}
_ALONE = {"format_whitelist": "mov,mp4,matroska,webm,gif,mp3,ogg,flac,wav,aac,asf", "protocol_whitelist": "file"}


def open_media(path: Path, mime: str) -> InputContainer:
    return av.open(str(path), format=_FORMATS[mime], options=dict(_ALONE), metadata_errors="replace")


def pictures(container: InputContainer) -> list[VideoStream]:
    """The streams of moving pictures; a cover is a stream too, but stands still."""
    return [stream for stream in container.streams.video if not stream.disposition & Disposition.attached_pic]


def cover(container: InputContainer) -> bytes:
    """The picture that comes with a piece of music, as the file it is; empty if there is none."""
    for stream in container.streams.video:
        if stream.disposition & Disposition.attached_pic:
            for packet in container.demux(stream):
                return bytes(packet)
    return b""


def describe(path: Path, mime: str) -> dict[str, Any]:
    """How long it is, and how much of it there is in a second."""
    with open_media(path, mime) as container:
        seconds = (container.duration or 0) / av.time_base
        bitrate = container.bit_rate or (int(path.stat().st_size * 8 / seconds) if seconds else 0)
        details: dict[str, Any] = {"duration": seconds, "bitrate": bitrate}
        for stream in pictures(container)[:1]:
            rate = stream.average_rate or stream.guessed_rate
            size = {"width": stream.codec_context.width, "height": stream.codec_context.height}
            details = size | {"frame_rate": f"{rate.numerator}/{rate.denominator}" if rate else None} | details
        return details


@contextmanager
def broken_as_refusal() -> Iterator[None]:
    try:
        yield
    except (av.error.FFmpegError, ValueError, ZeroDivisionError, IndexError) as error:
        if isinstance(error, MemoryError):
            raise
        raise RefusedFile(BROKEN) from error
