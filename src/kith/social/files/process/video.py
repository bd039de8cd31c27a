"""Moving pictures: H.264 and AAC in an MP4 that can start before it has all arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.filter import Graph
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from PIL import Image

from kith.social.files import limits
from kith.social.files.process import images
from kith.social.files.process.opening import describe, open_media, pictures
from kith.social.files.process.refusal import BROKEN, RefusedFile
from kith.social.files.process.sound import RATES, Heard, add_sound

_TURNS = {90: ("transpose", "cclock"), -90: ("transpose", "clock"), 180: ("hflip", ""), -180: ("hflip", "")}
_TURNED = {90: Image.Transpose.ROTATE_90, -90: Image.Transpose.ROTATE_270, 180: Image.Transpose.ROTATE_180}
_SIDE = 640


def craft(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    is_gif = mime == "image/gif"
    with open_media(path, mime) as container:
        stream = pictures(container)[0]
        _check(container, stream, "GIF files" if is_gif else "videos", limits.GIF_PIXELS if is_gif else None)
        stream.codec_context.thread_count = 1
        first = next(container.decode(stream), None)
        if first is None:
            raise RefusedFile(BROKEN)
        turn = _turn(first)
        small = _preview(first, turn)
        fits = _fits(container, stream, turn)
    with ExitStack() as stack:
        source = stack.enter_context(open_media(path, mime))
        target = stack.enter_context(
            av.open(str(folder / "original.mp4"), "w", format="mp4", options={"movflags": "+faststart"})
        )
        (_copy if fits else _encode)(source, target, turn)
    original = describe(folder / "original.mp4", "video/mp4")
    return {
        "kind": "gifv" if is_gif else "video",
        "file": "original.mp4",
        "preview": images.save(small, folder, "small", "PNG", b""),
        "meta": {"original": original, "small": images.measures(small)},
        "blurhash": images.blurhash(small),
    }


def _check(container: InputContainer, stream: VideoStream, noun: str, pixels: int | None) -> None:
    width, height = stream.codec_context.width, stream.codec_context.height
    if width < 1 or height < 1:
        raise RefusedFile(BROKEN)
    if width * height > (pixels or limits.VIDEO_PIXELS):
        raise RefusedFile(f"{width}x{height} {noun} are not supported")
    rate = stream.average_rate
    if rate and rate > limits.VIDEO_FPS:
        raise RefusedFile(f"{int(rate)}fps {noun} are not supported")
    seconds = (container.duration or 0) / av.time_base
    check_length(max(stream.frames, int(seconds * rate) if rate else 0), width * height, noun)


def check_length(frames: int, pixels: int, noun: str) -> None:
    """What is small may be longer than what is large."""
    most = min(limits.VIDEO_FRAMES, limits.VIDEO_FRAME_PIXELS // max(1, pixels))
    if frames > most:
        raise RefusedFile(f"{noun[:1].upper()}{noun[1:]} of this size and of more than {most} frames are not supported")


def _turn(frame: VideoFrame) -> int:
    """By how much the camera was held askew, in quarters; anything between is left as it is."""
    return frame.rotation if frame.rotation in _TURNS else 0


def _preview(frame: VideoFrame, turn: int) -> Image.Image:
    image: Image.Image = frame.to_image()  # type: ignore[no-untyped-call]
    if turn:
        image = image.transpose(_TURNED[180 if abs(turn) == 180 else turn])
    small = images.shrink(image, limits.PREVIEW_PIXELS)
    small.thumbnail((_SIDE, _SIDE))
    return small


def _sound(container: InputContainer) -> AudioStream | None:
    return next(iter(container.streams.audio), None)


def _fits(container: InputContainer, stream: VideoStream, turn: int) -> bool:
    """Whether what is inside can be taken as it is."""
    context, sound = stream.codec_context, _sound(container)
    return (
        "mp4" in container.format.name
        and context.name == "h264"
        and context.pix_fmt == "yuv420p"
        and not turn
        and context.width % 2 == context.height % 2 == 0
        and (sound is None or (sound.codec_context.name == "aac" and sound.codec_context.layout.nb_channels <= 2))
    )


def _copy(source: InputContainer, target: OutputContainer, _turn: int) -> None:
    """Only the pictures and the sound; whatever else was recorded (places, above all) stays behind."""
    stream, sound = pictures(source)[0], _sound(source)
    streams = [stream] if sound is None else [stream, sound]
    targets = {one.index: target.add_stream_from_template(one) for one in streams}
    for copied in targets.values():
        copied.metadata.clear()
    for packet in source.demux(streams):
        if packet.dts is not None:
            packet.stream = targets[packet.stream.index]
            target.mux(packet)


def _encode(source: InputContainer, target: OutputContainer, turn: int) -> None:
    stream, sound = pictures(source)[0], _sound(source)
    stream.codec_context.thread_count = 1
    turned = _turner(stream, turn)
    width, height = stream.codec_context.width, stream.codec_context.height
    if abs(turn) == 90:
        width, height = height, width
    rate = stream.average_rate or stream.guessed_rate or Fraction(25)
    written = target.add_stream("libx264", rate=min(rate, Fraction(limits.VIDEO_FPS)))
    written.width, written.height = max(2, width // 2 * 2), max(2, height // 2 * 2)
    written.pix_fmt = "yuv420p"
    written.options = {"preset": "veryfast", "crf": "23", "rc-lookahead": "10"}
    written.codec_context.thread_count = 1
    written.codec_context.time_base = stream.time_base or Fraction(1, 1000)
    heard = None
    if sound is not None:
        frequency = sound.codec_context.sample_rate if sound.codec_context.sample_rate in RATES else 44_100
        heard = add_sound(target, sound, "aac", frequency)
    frames, so_far = _Frames(written), Heard(source)
    for packet in source.demux([one for one in (stream, sound) if one is not None]):
        for frame in packet.decode():
            if isinstance(frame, VideoFrame):
                for upright in turned(frame):
                    target.mux(frames.encode(upright))
            elif heard is not None and isinstance(frame, AudioFrame):
                so_far.check(frame)
                target.mux(heard.encode(frame))
    target.mux(written.encode(None))
    if heard is not None:
        target.mux(heard.encode(None))


class _Frames:
    """Frames on their way to the encoder: each later than the one before, and not without end."""

    def __init__(self, stream: VideoStream) -> None:
        self._stream = stream
        self._last: int | None = None
        self._count = 0

    def encode(self, frame: VideoFrame) -> list[av.Packet[VideoStream]]:
        self._count += 1
        check_length(self._count, frame.width * frame.height, "videos")
        if frame.pts is None or (self._last is not None and frame.pts <= self._last):
            return []
        self._last = frame.pts
        even = frame.reformat(width=self._stream.width, height=self._stream.height, format="yuv420p")
        even.pict_type = 0
        return self._stream.encode(even)


def _turner(stream: VideoStream, turn: int) -> Callable[[VideoFrame], Iterator[VideoFrame]]:
    if not turn:
        return lambda frame: iter([frame])
    graph = Graph()
    steps = [graph.add_buffer(template=stream, time_base=stream.time_base), graph.add(*_TURNS[turn])]
    if abs(turn) == 180:
        steps.append(graph.add("vflip"))
    graph.link_nodes(*steps, graph.add("buffersink")).configure()

    def turned(frame: VideoFrame) -> Iterator[VideoFrame]:
        graph.push(frame)
        found = graph.pull()
        if isinstance(found, VideoFrame):
            yield found

    return turned
