"""What pages make of the texts of strangers."""

from __future__ import annotations

import pytest

from kith.social.emojis.service import codes_in
from kith.social.text.html import MOST_BYTES, kept
from kith.web.shown_posts import MOST_PICTURES, emphasised, written
from tests.social.test_text import LONG_TEXTS

EMOJIS = [{"shortcode": "e1", "static_url": f"https://far.example/{'x' * 200}.png"}]


def test_emoji_are_pictures_and_of_very_many_only_the_first() -> None:
    assert written("<p>:e1: :e2:</p>", EMOJIS).count("<img ") == 1
    for text in (written(f"<p>{':e1: ' * 10_000}</p>", EMOJIS), emphasised(":e1: " * 2000, EMOJIS)):
        assert text.count("<img ") == MOST_PICTURES
        assert text.removesuffix("</p>").endswith(":e1: ")


def test_so_many_emoji_are_looked_for_in_a_text_and_no_more() -> None:
    assert codes_in([":e1: and :e2:", ":e3:"]) == ["e1", "e2", "e3"]
    assert codes_in([":e1: " * 10_000, ":e2:"]) == ["e1"]


@pytest.mark.parametrize("piece", [*LONG_TEXTS, ":e1: ", "<b>:e1:</b>", ":e2: "])
def test_what_is_shown_of_a_text_is_not_much_longer_than_what_is_stored(piece: str) -> None:
    shown = written(kept(piece * (70_000 // len(piece))), EMOJIS)
    assert len(shown.encode()) < 2 * MOST_BYTES
