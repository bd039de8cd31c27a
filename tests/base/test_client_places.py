"""Who leaves when all places for clients are taken, and by what callers are counted."""

from __future__ import annotations

import pytest

from kith.base.asking import address_key
from kith.base.server.client_places import ClientPlaces


@pytest.mark.parametrize(
    ("taken", "leaves"),
    [
        ([("a", None, 2.0), ("b", None, 1.0)], 1),  # each has one: who has been idle for longest
        ([("a", None, 2.0), ("b", None, 1.0), ("a", None, 3.0)], 0),  # who has the most, though others wait longer
        ([("a", None, None), ("b", 7, 1.0), ("c", 7, 2.0)], 1),  # a password is being checked
        ([("a", 7, 1.0), ("a", None, 9.0)], 1),  # a stranger goes before people
        ([("a", 7, 1.0), ("a", 8, 2.0), ("b", 8, 3.0)], 1),  # whoever has bound more often than others
        ([("a", 7, 1.0), ("a", 8, 2.0)], None),
        ([("a", None, None)], None),
        ([("a", 7, None), ("a", 7, None)], None),
    ],
)
def test_who_leaves_when_all_places_are_taken(
    taken: list[tuple[str, int | None, float | None]], leaves: int | None
) -> None:
    places = ClientPlaces("test", len(taken), 9)
    every = []
    for address, person, since in taken:
        one = places.take(address)
        assert one is not None
        one.person, one.is_busy = person, since is None
        one.since = since or 0.0
        every.append(one)

    new = places.take("new")

    gone = [number for number, one in enumerate(every) if one not in places.taken]
    assert gone == ([] if leaves is None else [leaves])
    assert (new is None) == (leaves is None)
    assert len(places.taken) == len(taken)


def test_one_address_has_a_part_of_the_places_only() -> None:
    places = ClientPlaces("test", 5, 2)
    first = [places.take("a"), places.take("a")]

    assert places.take("a") is None
    assert first[0] is not None
    places.leave(first[0])
    places.leave(first[0])
    assert places.take("a") is not None
    assert places.take("a") is None


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::FFFF:c000:201", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("nonsense:", "nonsense:"),
    ],
)
def test_callers_are_counted_by_address_or_network(address: str, key: str) -> None:
    assert address_key(address) == key
