"""The colours a player dresses in: taken from the cover of what it plays."""

from __future__ import annotations

from collections import Counter

from PIL import Image

from kith.social.files.process.images import flat

Colour = tuple[int, int, int]

_SIDE = 48
_COUNT = 12
_READABLE = 4.5
_VISIBLE = 2.0


def colours(image: Image.Image) -> dict[str, str]:
    """Background from the rim, a foreground that can be read on it, and the liveliest of the rest as accent."""
    small = flat(image).convert("RGB")
    small.thumbnail((_SIDE, _SIDE))
    plain = small.quantize(_COUNT).convert("RGB")
    width, height = plain.size
    rim = [(x, y) for x in range(width) for y in range(height) if x in (0, width - 1) or y in (0, height - 1)]
    background = Counter(_at(plain, spot) for spot in rim).most_common(1)[0][0]
    all_of_it = Counter(_at(plain, (x, y)) for x in range(width) for y in range(height))
    others = sorted(all_of_it, key=lambda colour: _contrast(colour, background), reverse=True)
    foreground = others[0]
    if _contrast(foreground, background) < _READABLE:
        foreground = max(((255, 255, 255), (0, 0, 0)), key=lambda colour: _contrast(colour, background))
    lively = [colour for colour in all_of_it if _contrast(colour, background) >= _VISIBLE and colour != foreground]
    accent = max(lively, key=_liveliness, default=foreground)
    return {"background": _hex(background), "foreground": _hex(foreground), "accent": _hex(accent)}


def _at(image: Image.Image, spot: tuple[int, int]) -> Colour:
    found = image.getpixel(spot)
    assert isinstance(found, tuple)  # noqa: S101 - the image is RGB
    return int(found[0]), int(found[1]), int(found[2])


def _contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Colour) -> float:
    red, green, blue = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _liveliness(colour: Colour) -> int:
    return max(colour) - min(colour)


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
