"""Pictures for the example community, drawn when they are needed: the same ones every time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from io import BytesIO

from PIL import Image, ImageDraw, ImageFilter

from kith.cli.demo.past import Upload

__all__ = ["EMOJI", "avatar", "emoji", "picture", "scene"]

_Colour = tuple[int, int, int]
_FINE = 2  # drawn larger and made smaller, so that edges are smooth


def _rgb(text: str) -> _Colour:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _between(one: _Colour, other: _Colour, share: float) -> _Colour:
    mixed = [round(a + (b - a) * share) for a, b in zip(one, other, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def _sky(size: tuple[int, int], top: str, bottom: str) -> Image.Image:
    column = Image.new("RGB", (1, size[1]))
    for y in range(size[1]):
        column.putpixel((0, y), _between(_rgb(top), _rgb(bottom), y / size[1]))
    return column.resize(size, Image.Resampling.NEAREST)


def _upload(image: Image.Image, name: str, size: tuple[int, int] | None = None) -> Upload:
    file = BytesIO()
    image = image.resize(size, Image.Resampling.LANCZOS) if size else image
    if image.mode == "RGBA":
        image.save(file, "PNG")
        return f"{name}.png", "image/png", file.getvalue()
    image.save(file, "JPEG", quality=86)
    return f"{name}.jpg", "image/jpeg", file.getvalue()


def avatar(name: str, look: tuple[str, str, str, str, str]) -> Upload:
    """Head and shoulders, in a few shapes."""
    back, shirt, skin, hair, cut = look
    wide = 240 * _FINE
    image = _sky((wide, wide), back, "#ffffff" if cut == "leaf" else back)
    pen = ImageDraw.Draw(image)

    def oval(x: float, y: float, rx: float, ry: float, fill: str) -> None:
        pen.ellipse([wide * (x - rx), wide * (y - ry), wide * (x + rx), wide * (y + ry)], fill=fill)

    if cut == "leaf":
        oval(0.5, 0.5, 0.3, 0.3, shirt)
        oval(0.42, 0.42, 0.3, 0.3, "#95d5b2")
        pen.line([wide * 0.25, wide * 0.25, wide * 0.72, wide * 0.72], fill=shirt, width=wide // 40)
        return _upload(image, name, (240, 240))
    if cut in ("long", "scarf"):
        oval(0.5, 0.5, 0.29, 0.36, shirt if cut == "scarf" else hair)
    if cut == "curls":
        for turn in range(11):
            angle = math.pi * (0.9 + 1.2 * turn / 10)
            oval(0.5 + 0.25 * math.cos(angle), 0.42 + 0.24 * math.sin(angle), 0.1, 0.1, hair)
    if cut == "bun":
        oval(0.5, 0.15, 0.1, 0.1, hair)
    oval(0.5, 1.08, 0.42, 0.36, shirt)
    pen.rectangle([wide * 0.43, wide * 0.6, wide * 0.57, wide * 0.78], fill=skin)
    oval(0.5, 0.76, 0.07, 0.05, skin)
    oval(0.5, 0.46, 0.21, 0.25, skin)
    if cut in ("short", "long", "bun", "fringe", "beard", "curls"):
        depth = {"fringe": 0.42, "long": 0.33, "bun": 0.32, "curls": 0.33}.get(cut, 0.34)
        pen.pieslice([wide * 0.27, wide * 0.19, wide * 0.73, wide * (0.19 + depth + 0.14)], 180, 360, fill=hair)
    if cut == "beard":
        pen.pieslice([wide * 0.29, wide * 0.3, wide * 0.71, wide * 0.74], 15, 165, fill=hair)
    for x in (0.42, 0.58):
        oval(x, 0.47, 0.022, 0.028, "#2b2b2b")
    mouth = "#f4e3d7" if cut == "beard" else "#8c3b33"
    pen.arc([wide * 0.42, wide * 0.48, wide * 0.58, wide * 0.61], 25, 155, fill=mouth, width=wide // 50)
    return _upload(image, name, (240, 240))


def _ridge(
    pen: ImageDraw.ImageDraw, size: tuple[int, int], base: float, swing: float, fill: _Colour, seed: int
) -> None:
    """A line of hills, or of waves, filled down to the ground."""
    waves = [(random.Random(seed * 7 + n).uniform(1, 4), random.Random(seed + n * 13).uniform(0, 6)) for n in range(3)]  # noqa: S311
    line = [
        (x, size[1] * (base + swing * sum(math.sin(x / size[0] * a * 3 + b) for a, b in waves) / 3))
        for x in range(0, size[0] + 8, 8)
    ]
    pen.polygon([(0, size[1]), *line, (size[0], size[1])], fill=fill)


_SCENES = {
    "hills": ("#8ecae6", "#fefae0", "#588157", "#a3b18a"),
    "harbour": ("#f4a261", "#fff1d6", "#1d3557", "#5f8ea0"),
    "garden": ("#bde0fe", "#f1faee", "#386641", "#8cb369"),
    "dusk": ("#3d348b", "#f7b267", "#22223b", "#6d597a"),
    "night": ("#03071e", "#274060", "#0b132b", "#1c2541"),
    "dunes": ("#a8dadc", "#fff3e0", "#d4a373", "#e9c89a"),
}


def _land(kind: str, size: tuple[int, int], seed: int) -> Image.Image:
    top, bottom, near, far = _SCENES[kind]
    image = _sky(size, top, bottom)
    pen = ImageDraw.Draw(image)
    luck = random.Random(seed)  # noqa: S311 - a drawing
    if kind == "night":
        for _ in range(90):
            left, top_, wide = luck.randrange(size[0]), luck.randrange(size[1] * 6 // 10), luck.choice((1, 1, 2, 3))
            pen.ellipse([left, top_, left + wide, top_ + wide], fill="#f8f9fa")
    x, y, r = size[0] * luck.uniform(0.2, 0.8), size[1] * luck.uniform(0.2, 0.4), size[1] * 0.09
    pen.ellipse([x - r, y - r, x + r, y + r], fill="#fdf6e3" if kind == "night" else "#fff7c2")
    for layer in range(4):
        colour = _between(_rgb(far), _rgb(near), layer / 3)
        _ridge(pen, size, 0.58 + layer * 0.11, 0.1 - layer * 0.015, colour, seed + layer)
    return image


def scene(kind: str, seed: int) -> Upload:
    """Wide, for the top of a profile."""
    return _upload(_land(kind, (1200, 400), seed), f"{kind}-header", (900, 300))


def _harbour(size: tuple[int, int], seed: int) -> Image.Image:
    image = _sky(size, "#f6bd60", "#fceade")
    pen, (w, h) = ImageDraw.Draw(image), size
    pen.ellipse([w * 0.62, h * 0.3, w * 0.74, h * 0.3 + w * 0.12], fill="#fff4d6")
    _ridge(pen, size, 0.52, 0.03, _rgb("#84a59d"), seed)
    pen.rectangle([0, h * 0.58, w, h], fill="#457b9d")
    for n in range(26):
        y = h * (0.6 + n * 0.016)
        x = w * random.Random(seed + n).uniform(0.0, 0.8)  # noqa: S311
        pen.line([x, y, x + w * 0.16, y], fill=_between(_rgb("#457b9d"), _rgb("#fceade"), 0.45), width=3)
    for at, hull, sail in ((0.2, "#9b2226", "#fffaf0"), (0.48, "#1d3557", "#ffe8d6"), (0.82, "#2a9d8f", "#fffaf0")):
        x, y = w * at, h * 0.68
        pen.polygon([(x - 90, y), (x + 90, y), (x + 60, y + 44), (x - 60, y + 44)], fill=hull)
        pen.line([x, y, x, y - 200], fill="#5c4033", width=7)
        pen.polygon([(x + 8, y - 190), (x + 8, y - 20), (x + 88, y - 20)], fill=sail)
        pen.polygon([(x - 8, y - 160), (x - 8, y - 20), (x - 60, y - 20)], fill=sail)
    return image


def _heap(size: tuple[int, int], seed: int, colours: tuple[str, ...], top: str) -> Image.Image:
    """Round things in a basket: tomatoes, apples, onions."""
    image = _sky(size, "#faedcd", "#d4a373")
    pen, (w, h), luck = ImageDraw.Draw(image), size, random.Random(seed)  # noqa: S311
    for row in range(4):
        for n in range(6 - row):
            r = w * luck.uniform(0.062, 0.078)
            x = w * (0.22 + 0.112 * n + 0.056 * row + luck.uniform(-0.01, 0.01))
            y = h * (0.66 - row * 0.125)
            fill = luck.choice(colours)
            pen.ellipse([x - r, y - r, x + r, y + r], fill=fill)
            pen.ellipse([x - r * 0.5, y - r * 0.65, x - r * 0.1, y - r * 0.3], fill="#fff1e6")
            pen.polygon([(x - 16, y - r - 6), (x, y - r + 16), (x + 16, y - r - 6), (x, y - r + 4)], fill=top)
    pen.polygon([(w * 0.1, h * 0.66), (w * 0.9, h * 0.66), (w * 0.8, h * 0.93), (w * 0.2, h * 0.93)], fill="#7f5539")
    for n in range(5):
        y = h * (0.69 + n * 0.05)
        pen.line([w * (0.12 + n * 0.017), y, w * (0.88 - n * 0.017), y], fill="#9c6644", width=14)
    return image


def _bread(size: tuple[int, int], seed: int) -> Image.Image:
    image = _sky(size, "#e6ccb2", "#b08968")
    pen, (w, h) = ImageDraw.Draw(image), size
    pen.rectangle([0, h * 0.72, w, h], fill="#7f5539")
    for n, x in enumerate((0.3, 0.68)):
        pen.ellipse([w * (x - 0.22), h * 0.3, w * (x + 0.22), h * 0.84], fill="#bc6c25")
        pen.ellipse([w * (x - 0.2), h * 0.32, w * (x + 0.2), h * 0.7], fill="#dda15e")
        for cut in range(4):
            start = w * (x - 0.13 + cut * 0.07)
            pen.line([start, h * 0.42, start + w * 0.06, h * 0.6], fill="#fefae0", width=16 - n * 2)
    luck = random.Random(seed)  # noqa: S311
    for _ in range(160):
        x, y = luck.randrange(w), h * luck.uniform(0.74, 0.98)
        pen.ellipse([x, y, x + 6, y + 4], fill="#ede0d4")
    return image


def _wheel(size: tuple[int, int], _seed: int) -> Image.Image:
    image = _sky(size, "#cad2c5", "#84a98c")
    pen, (w, h) = ImageDraw.Draw(image), size
    pen.rectangle([0, h * 0.86, w, h], fill="#52796f")
    r = h * 0.26
    for x in (w * 0.28, w * 0.72):
        y = h * 0.62
        for n in range(18):
            angle = math.pi * n / 9
            pen.line([x, y, x + r * math.cos(angle), y + r * math.sin(angle)], fill="#adb5bd", width=3)
        pen.ellipse([x - r, y - r, x + r, y + r], outline="#212529", width=18)
        pen.ellipse([x - 16, y - 16, x + 16, y + 16], fill="#212529")
    frame = [
        (w * 0.28, h * 0.62),
        (w * 0.4, h * 0.32),
        (w * 0.63, h * 0.32),
        (w * 0.48, h * 0.64),
        (w * 0.28, h * 0.62),
    ]
    pen.line(frame, fill="#d62828", width=20, joint="curve")
    pen.line([w * 0.72, h * 0.62, w * 0.615, h * 0.2, w * 0.68, h * 0.18], fill="#d62828", width=20, joint="curve")
    pen.line([w * 0.48, h * 0.64, w * 0.385, h * 0.24], fill="#d62828", width=20)
    pen.rounded_rectangle([w * 0.33, h * 0.2, w * 0.45, h * 0.245], 16, fill="#212529")
    return image


def _bowls(size: tuple[int, int], seed: int) -> Image.Image:
    image = _sky(size, "#f8edeb", "#d8e2dc")
    pen, (w, h), luck = ImageDraw.Draw(image), size, random.Random(seed)  # noqa: S311
    for shelf in (0.38, 0.68, 0.97):
        for x in (0.17, 0.39, 0.61, 0.83):
            colour = luck.choice(("#6d6875", "#457b9d", "#b5838d", "#2a9d8f", "#e9c46a", "#bc6c25"))
            r, y = w * luck.uniform(0.06, 0.09), h * shelf
            pen.pieslice([w * x - r, y - r * 1.9, w * x + r, y], 0, 180, fill=colour)
            pen.ellipse([w * x - r, y - r * 1.1, w * x + r, y - r * 0.8], fill="#fefae0")
        pen.rectangle([w * 0.04, h * shelf - 4, w * 0.96, h * shelf + 16], fill="#8d5524")
    return image


def _lights(size: tuple[int, int], seed: int) -> Image.Image:
    """The northern lights."""
    image = _land("night", size, seed)
    glow = Image.new("RGB", size)
    pen, (w, h) = ImageDraw.Draw(glow), size
    for n, colour in enumerate(("#2dc653", "#52b788", "#9d4edd", "#25a18e")):
        for x in range(0, w, 10):
            y = h * (0.2 + 0.05 * n) + h * 0.08 * math.sin(x / w * 7 + n * 1.7 + seed)
            pen.line([x, y, x, y + h * 0.22], fill=_between((0, 0, 0), _rgb(colour), 0.6), width=10)
    from PIL import ImageChops  # noqa: PLC0415 - for this one

    return ImageChops.screen(image, glow.filter(ImageFilter.GaussianBlur(28)))


def _birds(size: tuple[int, int], seed: int) -> Image.Image:
    image = _land("hills", size, seed)
    pen, luck = ImageDraw.Draw(image), random.Random(seed)  # noqa: S311
    for _ in range(24):
        x, y, r = luck.randrange(size[0]), size[1] * luck.uniform(0.08, 0.5), luck.randrange(18, 46)
        pen.arc([x - 2 * r, y - r, x, y + r], 200, 340, fill="#22223b", width=7)
        pen.arc([x, y - r, x + 2 * r, y + r], 200, 340, fill="#22223b", width=7)
    return image


_DRAWN: dict[str, Callable[[tuple[int, int], int], Image.Image]] = {
    "harbour": _harbour,
    "tomatoes": lambda size, seed: _heap(size, seed, ("#d62828", "#e63946", "#f3722c"), "#386641"),
    "apples": lambda size, seed: _heap(size, seed, ("#8ab17d", "#e9c46a", "#c1121f"), "#5c4033"),
    "bread": _bread,
    "bicycle": _wheel,
    "bowls": _bowls,
    "lights": _lights,
    "birds": _birds,
    "hills": lambda size, seed: _land("hills", size, seed),
    "dusk": lambda size, seed: _land("dusk", size, seed),
    "garden": lambda size, seed: _land("garden", size, seed),
}


def picture(kind: str, seed: int) -> Upload:
    return _upload(_DRAWN[kind]((1200, 800), seed), kind, (900, 600))


# Custom emoji: a colour, and what is drawn on it as ovals (x, y, rx, ry, colour).
EMOJI: dict[str, tuple[tuple[float, float, float, float, str], ...]] = {
    "tomato": ((0.5, 0.56, 0.4, 0.36, "#d62828"), (0.5, 0.2, 0.14, 0.06, "#386641"),
               (0.36, 0.44, 0.07, 0.1, "#ff8fa3")),
    "loaf": ((0.5, 0.55, 0.44, 0.3, "#bc6c25"), (0.5, 0.5, 0.38, 0.22, "#dda15e"), (0.5, 0.5, 0.05, 0.18, "#fefae0")),
    "seal": (
        (0.5, 0.55, 0.36, 0.38, "#6c757d"), (0.38, 0.48, 0.05, 0.06, "#000000"), (0.62, 0.48, 0.05, 0.06, "#000000"),
        (0.5, 0.66, 0.16, 0.12, "#ced4da"), (0.5, 0.61, 0.06, 0.04, "#000000"),
    ),
    "lantern": ((0.5, 0.5, 0.32, 0.4, "#f77f00"), (0.5, 0.5, 0.18, 0.32, "#fcbf49"), (0.5, 0.12, 0.1, 0.05, "#5c4033")),
    "sprout": ((0.5, 0.78, 0.05, 0.2, "#386641"), (0.3, 0.42, 0.22, 0.14, "#80b918"),
               (0.7, 0.34, 0.22, 0.14, "#55a630")),
}  # fmt: skip


def emoji(name: str) -> Upload:
    wide = 96 * _FINE
    image = Image.new("RGBA", (wide, wide))
    pen = ImageDraw.Draw(image)
    for x, y, rx, ry, colour in EMOJI[name]:
        pen.ellipse([wide * (x - rx), wide * (y - ry), wide * (x + rx), wide * (y + ry)], fill=colour)
    return _upload(image, name, (96, 96))
