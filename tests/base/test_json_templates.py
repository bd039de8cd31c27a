"""JSON with gaps: what comes out is what would have been encoded at once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.json_templates import Template, gap, together


class Inner(msgspec.Struct):
    name: str
    count: int


class Outer(msgspec.Struct):
    id: str
    text: str
    count: int
    marked: bool
    matches: list[Any]
    inner: Inner | None


_encode = msgspec.json.Encoder().encode
_GAPS: dict[str, Any] = {name: gap(name) for name in ("count", "marked", "matches", "inner")}
_texts = st.text(st.characters(codec="utf-8"))


@given(text=_texts, name=_texts, count=st.integers(0, 2**53), marked=st.booleans())
def test_what_is_filled_step_by_step_is_what_is_encoded_at_once(text: str, name: str, count: int, marked: bool) -> None:
    inner = Template.of(Inner(name, gap("count")))
    outer = Template.of(Outer("1", text, **_GAPS))
    shared = {"count": b"%d" % count}

    filled = outer.fill({"inner": inner}).fill(shared)
    settled = filled.settle({"marked": b"false", "matches": b"[]"})

    assert settled.usual == _encode(Outer("1", text, count, False, [], Inner(name, count)))
    values = {"marked": _encode(marked), "matches": _encode([name])}
    assert settled.but(values) == _encode(Outer("1", text, count, marked, [name], Inner(name, count)))
    assert settled.but({}) == settled.usual


@given(text=_texts)
def test_keys_are_left_out_with_their_gaps(text: str) -> None:
    template = Template.of(Outer("1", text, **_GAPS)).without("marked", "inner")

    whole = template.fill({"count": b"3", "matches": b"[]"}).whole()

    assert msgspec.json.decode(whole) == {"id": "1", "text": text, "count": 3, "matches": []}


def test_what_is_not_filled_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="marked"):
        Template.of(Outer("1", "", **_GAPS)).fill({"count": b"1", "matches": b"[]", "inner": b"null"}).whole()


def test_two_objects_become_one() -> None:
    assert msgspec.json.decode(together(b'{"a":1}', Inner("x", 2))) == {"a": 1, "name": "x", "count": 2}
