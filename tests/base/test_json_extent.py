"""JSON with too many values is known before any of them is made."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.params.extent import surely_holds_more

_TEXT = st.text('a,[{"\\\\é', max_size=8)
_JSON = st.recursive(
    st.none() | st.integers() | _TEXT,
    lambda below: st.lists(below, max_size=6) | st.dictionaries(_TEXT, below, max_size=6),
    max_leaves=40,
)


def count(value: Any) -> int:
    """All values below this one."""
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return len(below) + sum(count(one) for one in below)


@given(st.dictionaries(_TEXT, _JSON, max_size=6), st.integers(0, 30), st.booleans())
def test_nothing_within_the_bound_is_refused_and_little_beyond_it_passes(
    value: dict[str, Any], most: int, is_ascii: bool
) -> None:
    raw = json.dumps(value, ensure_ascii=is_ascii).encode()

    if surely_holds_more(raw, most):
        assert count(value) > most
    else:
        assert count(value) <= 2 * most + 1


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": [' + b"{}," * 50_000 + b"{}]}",
        b'{"a": [' + b"1," * 50_000 + b"1]}",
        b'{"a": ' + b"[" * 50_000,
        b'{"a": [' + b'"",' * 50_000 + b'""]}',
        b'{"a": [' + b'"\\"",' * 50_000 + b'""]}',
    ],
)
def test_what_is_full_of_values_is_known(raw: bytes) -> None:
    assert surely_holds_more(raw, 20_000)


def test_texts_may_hold_any_number_of_commas_and_brackets() -> None:
    assert not surely_holds_more(json.dumps({"content": ',[{"' * 50_000}).encode(), 1000)
