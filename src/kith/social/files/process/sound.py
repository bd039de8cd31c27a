"""Sound: an MP3, and the cover that came with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from PIL import Image

from kith.social.files import limits
from kith.social.files.process import images
from kith.social.files.process.colours import colours
from kith.social.files.process.opening import cover, describe, open_media
from kith.social.files.process.refusal import BROKEN, RefusedFile
from kith.social.files.sniff import HEAD_BYTES, sniff

RATES = (32_000, 44_100, 48_000)
_BITS = {1: 96_000, 2: 192_000}


def craft(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    with open_media(path, mime) as source, av.open(str(folder / "original.mp3"), "w", format="mp3") as target:
        if not source.streams.audio:
            raise RefusedFile(BROKEN)
        heard = source.streams.audio[0]
        (_copy if heard.codec_context.name in ("mp3", "mp3float") else _encode)(source, target, heard)
    report: dict[str, Any] = {
        "kind": "audio",
        "file": "original.mp3",
        "meta": {"original": describe(folder / "original.mp3", "audio/mpeg")},
    }
    with open_media(path, mime) as source:
        picture = cover(source)
    return report | _dress(folder, picture, report["meta"])


def _dress(folder: Path, picture: bytes, meta: dict[str, Any]) -> dict[str, Any]:
    """A cover that cannot be used is no reason to refuse the music."""
    found = sniff(picture[:HEAD_BYTES])
    if found is None or found.family != "image":
        return {}
    (folder / "cover").write_bytes(picture)
    try:
        made = images.preview(folder, folder / "cover", found.mime)
    except RefusedFile:
        return {}
    with Image.open(folder / made["file"]) as small:
        dressed = meta | made["meta"] | {"colors": colours(small)}
    return {"preview": made["file"], "blurhash": made["blurhash"], "meta": dressed}


def add_sound(target: OutputContainer, like: AudioStream, codec: str, rate: int) -> AudioStream:
    channels = min(2, like.codec_context.layout.nb_channels) or 1
    layout = "stereo" if channels == 2 else "mono"
    written = target.add_stream(codec, rate=rate, layout=layout)
    assert isinstance(written, AudioStream)  # noqa: S101 - the codec is one of ours
    written.bit_rate = _BITS[channels]
    return written


class Heard:
    """How much of a sound has been written anew."""

    def __init__(self, source: InputContainer) -> None:
        self._seconds = 0.0
        _check_seconds((source.duration or 0) / av.time_base)

    def check(self, frame: AudioFrame) -> None:
        self._seconds += frame.samples / max(1, frame.sample_rate)
        _check_seconds(self._seconds)


def _check_seconds(seconds: float) -> None:
    if seconds > limits.SOUND_SECONDS:
        raise RefusedFile("Sounds of more than four hours are not supported")


def _encode(source: InputContainer, target: OutputContainer, heard: AudioStream) -> None:
    rate = heard.codec_context.sample_rate
    written = add_sound(target, heard, "libmp3lame", rate if rate in RATES else 44_100)
    so_far = Heard(source)
    for frame in source.decode(heard):
        so_far.check(frame)
        target.mux(written.encode(frame))
    target.mux(written.encode(None))


def _copy(source: InputContainer, target: OutputContainer, heard: AudioStream) -> None:
    written = target.add_stream_from_template(heard)
    written.metadata.clear()
    for packet in source.demux(heard):
        if packet.dts is not None:
            packet.stream = written
            target.mux(packet)
