"""Whether a text is one emoji of Unicode's: what it looks like, not which fonts can show it."""

from __future__ import annotations

from functools import cache
from typing import Any

LONGEST = 32  # code points; the longest that Unicode recommends has ten

_PICTURE = (
    r"(?!\p{RI})(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}|\p{Emoji}\uFE0F)(?:\p{Emoji_Modifier}|\uFE0F)?"
)
_JOINED = rf"{_PICTURE}(?:[\U000E0020-\U000E007E]+\U000E007F)?(?:\u200D{_PICTURE})*+"
_EMOJI = rf"(?:\p{{RI}}\p{{RI}}|[0-9#*]\uFE0F?\u20E3|{_JOINED})"


@cache
def _emoji() -> Any:
    import regex  # type: ignore[import-untyped] # noqa: PLC0415 - loaded when first used

    return regex.compile(_EMOJI)


def is_emoji(text: str) -> bool:
    return 0 < len(text) <= LONGEST and not text.isascii() and _emoji().fullmatch(text) is not None
