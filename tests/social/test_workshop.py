from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image

from kith.social.files import limits
from kith.social.files.decoder_processes import BadFile, Bounds, Craft, DecodedFile, DecoderProcesses, copying
from kith.social.files.process.refusal import RefusedFile
from kith.social.files.process.video import check_length
from kith.social.files.processing import is_moving, sniffed
from tests.social import samples


class Result:
    """What came out, read before its folder is gone."""

    def __init__(self, outcome: DecodedFile, folder: Path) -> None:
        self.outcome = outcome
        self.meta: dict[str, Any] = outcome.meta
        self.file = (folder / outcome.file).read_bytes()
        self.preview = (folder / outcome.preview).read_bytes() if outcome.preview else b""
        self.static = (folder / outcome.static).read_bytes() if outcome.static else b""

    @property
    def image(self) -> Image.Image:
        return Image.open(io.BytesIO(self.file))


@pytest.fixture
def shop(tmp_path: Path) -> DecoderProcesses:
    return DecoderProcesses(tmp_path / "workshop")


async def _make(shop: DecoderProcesses, data: bytes, craft: Craft = "attachment") -> Result:
    file = io.BytesIO(data)
    found = await sniffed(file)
    assert found is not None
    moving = craft == "attachment" and await is_moving(file, found)
    async with shop.make(craft, found, copying(file), moving=moving) as made:
        return Result(made.outcome, made.folder)


def _large_picture() -> bytes:
    return samples.image_file("PNG", (3000, 3000))


def _endless_gif() -> bytes:
    return samples.many_frames_gif(30_000, (900, 900))


async def test_a_photograph_forgets_who_took_it_where_but_not_which_way_is_up(shop: DecoderProcesses) -> None:
    sent = samples.camera_jpeg((80, 60), orientation=6)
    assert Image.open(io.BytesIO(sent)).getexif().get_ifd(0x8825)

    made = await _make(shop, sent)

    for data in (made.file, made.preview):
        assert b"SECRET" not in data
        assert b"Exif" not in data
        assert not Image.open(io.BytesIO(data)).getexif()
    image = made.image
    assert image.format == "JPEG"
    assert image.size == (60, 80)
    assert image.info["icc_profile"] == Image.open(io.BytesIO(sent)).info["icc_profile"]
    red, _, blue = image.convert("RGB").getpixel((55, 5))  # type: ignore[misc]
    assert red > 200
    assert blue < 60
    assert made.outcome.kind == "image"
    assert made.meta["original"] == {"width": 60, "height": 80, "size": "60x80", "aspect": 0.75}
    assert made.outcome.blurhash is not None
    assert len(made.outcome.blurhash) == 36
    assert not list((shop._folder).iterdir())


@pytest.mark.parametrize(
    ("make", "form"),
    [
        (lambda: samples.image_file("PNG", mode="RGBA"), "PNG"),
        (lambda: samples.image_file("WEBP"), "WEBP"),
        (lambda: samples.image_file("AVIF"), "JPEG"),
        (lambda: samples.heic((80, 60)), "JPEG"),
        (lambda: samples.image_file("JPEG", mode="CMYK"), "JPEG"),
        (lambda: samples.gif(1, (80, 60)), "PNG"),
    ],
    ids=["png", "webp", "avif", "heic", "cmyk", "gif"],
)
async def test_every_kind_of_picture(shop: DecoderProcesses, make: Callable[[], bytes], form: str) -> None:
    made = await _make(shop, make())

    assert made.outcome.kind == "image"
    assert made.image.format == form
    assert made.image.size == (80, 60)
    assert Image.open(io.BytesIO(made.preview)).size == (80, 60)


async def test_a_large_picture_is_kept_smaller_and_previewed_smaller_still(shop: DecoderProcesses) -> None:
    made = await _make(shop, samples.image_file("JPEG", (4400, 2200)))

    width, height = made.image.size
    assert limits.STORED_PIXELS * 0.99 < width * height <= limits.STORED_PIXELS
    small = made.meta["small"]
    assert limits.PREVIEW_PIXELS * 0.98 < small["width"] * small["height"] <= limits.PREVIEW_PIXELS
    assert abs(small["aspect"] - 2) < 0.01


async def test_an_animated_gif_becomes_a_film_of_an_even_size(shop: DecoderProcesses) -> None:
    made = await _make(shop, samples.gif(4, (33, 21)))

    assert made.outcome.kind == "gifv"
    with av.open(io.BytesIO(made.file), "r") as film:
        stream = film.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height) == (32, 20)
        assert len(list(film.decode(stream))) == 4
    assert made.meta["original"]["duration"] == pytest.approx(0.4)
    assert made.meta["original"]["frame_rate"] == "10/1"
    assert Image.open(io.BytesIO(made.preview)).format == "PNG"


def _secret() -> Image.Exif:
    exif = Image.Exif()
    exif[0x010F] = "SECRETMAKER"
    return exif


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
async def test_an_animated_picture_keeps_moving(shop: DecoderProcesses, form: str) -> None:
    sent = samples.animated(form, 3, (40, 30), duration=120, exif=_secret())
    assert b"SECRET" in sent

    made = await _make(shop, sent)

    assert (made.outcome.kind, made.outcome.file) == ("image", "original.webp")
    assert b"SECRET" not in made.file
    image = made.image
    assert (image.format, getattr(image, "n_frames", 1), image.size) == ("WEBP", 3, (40, 30))
    for place in range(3):
        image.seek(place)
        red, green, _, seen = image.convert("RGBA").getpixel((20, 15))  # type: ignore[misc]
        assert (red > 200, seen) == ((True, 255) if place % 2 == 0 else (False, 0)), (place, red, green, seen)
        assert image.info["duration"] == 120
    preview = Image.open(io.BytesIO(made.preview))
    assert (preview.format, getattr(preview, "n_frames", 1)) == (form, 1)
    avatar = await _make(shop, sent, "avatar")
    assert (avatar.image.format, getattr(avatar.image, "n_frames", 1), avatar.image.size) == ("WEBP", 3, (400, 400))
    assert Image.open(io.BytesIO(avatar.static)).format == "PNG"


@pytest.mark.parametrize(
    ("make", "form", "frames"),
    [
        (lambda: samples.animated("WEBP", 4, (1400, 900)), "WEBP", 4),
        (lambda: samples.animated("PNG", limits.ANIMATED_FRAMES + 1, (8, 8)), "PNG", 1),
        (lambda: samples.animated("WEBP", 9, (2800, 2600)), "WEBP", 1),
        (lambda: samples.animated("PNG", 2, default_image=True), "PNG", 1),
        (lambda: samples.animated("PNG", 3, default_image=True), "WEBP", 2),
        (lambda: samples.animated("AVIF", 3), "JPEG", 1),
    ],
    ids=["large", "long", "both", "with one frame", "with another picture", "avif"],
)
async def test_what_would_take_too_long_to_write_anew_stands_still(
    shop: DecoderProcesses, make: Callable[[], bytes], form: str, frames: int
) -> None:
    image = (await _make(shop, make())).image

    assert (image.format, getattr(image, "n_frames", 1)) == (form, frames)
    assert frames == 1 or image.width * image.height <= limits.GIF_PIXELS


async def test_an_animated_picture_that_is_broken_is_refused(shop: DecoderProcesses) -> None:
    for form in ("PNG", "WEBP"):
        sent = samples.animated(form, 5, (64, 64))
        with pytest.raises(BadFile):
            await _make(shop, sent[: len(sent) * 2 // 3])


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: samples.video(sound="aac", location="+52.5+13.4/SECRET", title="SECRET"), (64, 48)),
        (lambda: samples.turned(samples.video(sound="aac")), (48, 64)),
        (lambda: samples.video("webm", "libvpx", sound="libopus"), (64, 48)),
        (lambda: samples.video("mov", "mpeg4", (64, 48)), (64, 48)),
        (lambda: samples.video("mp4", "libx264", (65, 49), pix_fmt="yuv444p"), (64, 48)),
    ],
    ids=["copied", "turned", "webm", "quicktime", "odd"],
)
async def test_every_kind_of_film_plays_everywhere(
    shop: DecoderProcesses, make: Callable[[], bytes], size: tuple[int, int]
) -> None:
    sent = make()

    made = await _make(shop, sent)

    assert made.outcome.kind == "video"
    assert b"SECRET" not in made.file
    assert made.file.index(b"moov") < made.file.index(b"mdat")
    with av.open(io.BytesIO(made.file), "r") as film:
        stream = film.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert [sound.codec_context.name for sound in film.streams.audio] in ([], ["aac"])
        frames = list(film.decode(stream))
        shown: Image.Image = frames[0].to_image()  # type: ignore[no-untyped-call]
    assert (len(frames), shown.size, frames[0].rotation) == (10, size, 0)
    small = Image.open(io.BytesIO(made.preview)).convert("RGB")
    for picture in (shown, small):  # red is where the camera's top left is now
        corner = (picture.width - 6, 6) if size == (48, 64) else (6, 6)
        red, _, blue = picture.getpixel(corner)  # type: ignore[misc]
        assert red > 150
        assert blue < 100
    original = made.meta["original"]
    assert (original["width"], original["height"], original["frame_rate"]) == (*size, "10/1")
    assert original["duration"] == pytest.approx(1.0, abs=0.1)
    assert original["bitrate"] > 0


@pytest.mark.parametrize(
    ("form", "codec", "rate"),
    [
        ("mp3", "libmp3lame", 44_100),
        ("wav", "pcm_s16le", 22_050),
        ("flac", "flac", 44_100),
        ("ogg", "libopus", 48_000),
        ("adts", "aac", 44_100),
        ("ipod", "aac", 44_100),
        ("webm", "libopus", 48_000),
        ("asf", "pcm_s16le", 44_100),
    ],
)
async def test_every_kind_of_sound_becomes_an_mp3(shop: DecoderProcesses, form: str, codec: str, rate: int) -> None:
    made = await _make(shop, samples.sound(form, codec, rate=rate, title="SECRET"))

    assert made.outcome.kind == "audio"
    assert made.preview == b""
    assert made.outcome.blurhash is None
    assert b"SECRET" not in made.file
    with av.open(io.BytesIO(made.file), "r", format="mp3") as song:
        assert song.streams.audio[0].codec_context.name in ("mp3", "mp3float")
        assert sum(frame.samples for frame in song.decode(audio=0)) > 10_000
    assert made.meta["original"]["duration"] == pytest.approx(0.3, abs=0.1)
    assert "small" not in made.meta


async def test_music_brings_its_cover_and_the_colours_of_it(shop: DecoderProcesses) -> None:
    made = await _make(shop, samples.mp3_with_cover(samples.image_file("PNG")))

    assert Image.open(io.BytesIO(made.preview)).size == (80, 60)
    assert made.meta["small"]["size"] == "80x60"
    assert made.meta["colors"] == {"background": "#0000ff", "foreground": "#ffffff", "accent": "#ff0000"}
    assert made.outcome.blurhash
    assert b"SECRET" not in made.file
    plain = await _make(shop, samples.mp3_with_cover(b"<svg onload='alert(1)'/>", "image/svg+xml"))
    assert plain.preview == b""


async def test_profile_pictures_have_their_sizes_and_one_that_moves_also_stands_still(shop: DecoderProcesses) -> None:
    avatar = await _make(shop, samples.camera_jpeg((90, 60)), "avatar")
    moving = await _make(shop, samples.gif(3, (50, 30)), "avatar")
    header = await _make(shop, samples.camera_jpeg((2000, 1500), orientation=1), "header")

    assert (avatar.image.size, avatar.static) == ((400, 400), b"")
    assert (moving.image.format, moving.image.size, moving.image.n_frames) == ("GIF", (400, 400), 3)  # type: ignore[attr-defined]
    still = Image.open(io.BytesIO(moving.static))
    assert (still.format, still.size) == ("PNG", (400, 400))
    assert header.image.size == (1000, 750)


@pytest.mark.parametrize(
    ("frames", "size", "is_taken"),
    [
        (36_000, (1280, 720), True),
        (36_001, (64, 64), False),
        (28_000, (1920, 1080), True),
        (36_000, (1920, 1080), False),
        (7_000, (3840, 2160), True),
        (35_900, (3840, 2160), False),
    ],
)
def test_a_large_film_may_have_fewer_frames_than_a_small_one(
    frames: int, size: tuple[int, int], is_taken: bool
) -> None:
    with nullcontext() if is_taken else pytest.raises(RefusedFile):
        check_length(frames, size[0] * size[1], "videos")


BROKEN = "File type of uploaded media could not be verified"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: samples.png_header(30_000, 30_000), "30000x30000 images are not supported"),
        (lambda: samples.png_header(7680, 4320), BROKEN),
        (
            lambda: samples.many_frames_gif(36_001, (900, 900)),
            "GIF files of this size and of more than 36000 frames are not supported",
        ),
        (lambda: samples.many_frames_gif(3, (2000, 2000)), "2000x2000 GIF files are not supported"),
        (lambda: samples.many_scans_jpeg(2_000, (3000, 3000)), BROKEN),
        (lambda: samples.many_scans_jpeg(101, (8, 8)), BROKEN),
        (lambda: samples.video(rate=240), "240fps videos are not supported"),
        (lambda: samples.camera_jpeg()[:700], BROKEN),
        (lambda: samples.image_file("WEBP")[:60], BROKEN),
        (lambda: samples.heic()[:-200], BROKEN),
        (lambda: samples.video()[:900], BROKEN),
        (lambda: samples.sound("flac", "flac")[:60], BROKEN),
        (samples.slow_sound, "Sounds of more than four hours are not supported"),
        (lambda: b"ID3\x03\0\0\0\0\0\0#EXTM3U\n#EXTINF:1,\n/etc/passwd\n", BROKEN),
        (lambda: b"\x89PNG\r\n\x1a\n<svg onload='alert(1)'>", BROKEN),
    ],
    ids=[
        "bomb",
        "hollow",
        "frames",
        "canvas",
        "scans",
        "small scans",
        "fast",
        "jpeg",
        "webp",
        "heic",
        "mp4",
        "flac",
        "slow",
        "playlist",
        "svg",
    ],
)
async def test_bombs_and_broken_files_are_refused_in_words(
    shop: DecoderProcesses, make: Callable[[], bytes], words: str
) -> None:
    with pytest.raises(BadFile) as refused:
        await _make(shop, make())

    assert refused.value.message == words


async def test_a_picture_may_have_as_many_scans_as_programs_write(shop: DecoderProcesses) -> None:
    made = await _make(shop, samples.many_scans_jpeg(50, (64, 64)))

    assert made.image.size == (64, 64)


async def test_a_picture_that_is_also_something_else_is_only_a_picture_afterwards(shop: DecoderProcesses) -> None:
    made = await _make(shop, samples.image_file("PNG") + b"<script>SECRET</script>PK\x03\x04")

    assert made.image.size == (80, 60)
    assert b"SECRET" not in made.file


@pytest.mark.parametrize(
    ("bounds", "make", "words"),
    [
        (Bounds(memory=140 << 20, cpu_seconds=30, seconds=60, file_bytes=1 << 20), _large_picture, "memory"),
        (Bounds(memory=1 << 30, cpu_seconds=1, seconds=60, file_bytes=64 << 20), _endless_gif, "takes too long"),
        (Bounds(memory=1 << 30, cpu_seconds=30, seconds=0, file_bytes=1 << 20), _large_picture, "takes too long"),
    ],
    ids=["memory", "work", "time"],
)
async def test_limits_of_memory_and_time_hold(
    tmp_path: Path, bounds: Bounds, make: Callable[[], bytes], words: str
) -> None:
    shop = DecoderProcesses(tmp_path / "workshop", still=bounds, animated=bounds)

    with pytest.raises(BadFile, match=words):
        await _make(shop, make())

    assert not list(shop._folder.iterdir())


async def test_whoever_no_longer_waits_leaves_nothing_running(shop: DecoderProcesses) -> None:
    making = asyncio.create_task(_make(shop, _endless_gif()))
    while not (programs := _programs_in(shop._folder)):
        await asyncio.sleep(0.01)
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making

    async with asyncio.timeout(5):  # one that was just being started is ended by the loop, in its own time
        while any(_is_running(program) for program in programs):
            await asyncio.sleep(0.01)
    assert not list(shop._folder.iterdir())


def _programs_in(folder: Path) -> list[int]:
    """The processes that work below `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_program_has_no_network_and_starts_no_other(tmp_path: Path) -> None:
    tried = """
import os, socket, subprocess
from kith.base.confine import confine
confine(memory=1 << 30, seconds=10, file_bytes=1000)
for act in (socket.socket, lambda: subprocess.run(["true"]), lambda: os.kill(os.getppid(), 0)):
    try:
        act()
    except PermissionError:
        print("refused")
with open("large", "wb", buffering=0) as file:
    file.write(b"x" * 1000)
    try:
        file.write(b"x")
    except OSError as error:
        print(error.strerror)
try:
    bytearray(2 << 30)
except MemoryError:
    print("no memory")
"""
    done = subprocess.run([sys.executable, "-c", tried], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert done.stdout.splitlines() == ["refused", "refused", "refused", "File too large", "no memory"]


def test_what_a_crash_left_behind_is_cleared_away(shop: DecoderProcesses) -> None:
    old, new = shop._new_folder(), shop._new_folder()
    (old / "source").write_bytes(b"x")
    long_ago = time.time() - 3 * 3600
    os.utime(old, (long_ago, long_ago))

    shop.clear()

    assert [left.name for left in shop._folder.iterdir()] == [new.name]
