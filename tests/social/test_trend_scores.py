"""How trends are scored, and about which of them the team is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.social.trends.refreshing import domains_of, host_of, is_article
from kith.social.trends.requests import Candidate, near_the_top
from kith.social.trends.scores import (
    LINK_HALF_LIFE,
    TAG_HALF_LIFE,
    Peak,
    day_of_use,
    scored,
    status_score,
    usage_score,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("observed", "before", "expected"),
    [(0, 0, 0.0), (4, 0, 0.0), (5, 0, 16.0), (5, 1, 16.0), (6, 3, 3.0), (10, 5, 5.0), (5, 5, 0.0), (5, 6, 0.0)],
)
def test_a_day_is_compared_with_the_day_before(observed: int, before: int, expected: float) -> None:
    assert usage_score(observed, before) == expected


def _people(*counts: int) -> dict[str, int]:
    """Today first."""
    return {day_of_use(NOW, ago): count for ago, count in enumerate(counts)}


@pytest.mark.parametrize(
    ("peak", "people", "expected"),
    [
        pytest.param(Peak(), _people(6, 2), (8.0, Peak(8.0, NOW)), id="new"),
        pytest.param(Peak(4.0, NOW - HOUR), _people(6, 2), (8.0, Peak(8.0, NOW)), id="more than before"),
        pytest.param(Peak(16.0, NOW - 4 * HOUR), _people(5), (8.0, Peak(16.0, NOW - 4 * HOUR)), id="a half-life later"),
        pytest.param(Peak(16.0, NOW - 24 * HOUR), _people(0, 5), (0.25, Peak(16.0, NOW - 24 * HOUR)), id="yesterday's"),
        pytest.param(Peak(16.0, NOW - 49 * HOUR), _people(0, 0, 5), (0.0, Peak()), id="after two days"),
        pytest.param(Peak(25.0, NOW), _people(5), (16.0, Peak(16.0, NOW)), id="somebody is gone"),
        pytest.param(Peak(25.0, NOW), _people(4), (0.0, Peak()), id="too many are gone"),
        pytest.param(Peak(), {}, (0.0, Peak()), id="nobody"),
    ],
)
def test_a_score_falls_from_its_peak(peak: Peak, people: dict[str, int], expected: tuple[float, Peak]) -> None:
    score, now = scored(peak, people, NOW, TAG_HALF_LIFE)
    assert score == pytest.approx(expected[0])
    assert now == expected[1]


def test_links_last_longer_than_tags() -> None:
    peak = Peak(16.0, NOW - 8 * HOUR)
    assert scored(peak, _people(5), NOW, LINK_HALF_LIFE)[0] == pytest.approx(8.0)
    assert scored(peak, _people(5), NOW, TAG_HALF_LIFE)[0] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("marks", "age", "expected"), [(4, HOUR, 0.0), (5, 0 * HOUR, 16.0), (5, HOUR, 8.0), (11, 2 * HOUR, 25.0)]
)
def test_a_post_loses_half_of_its_score_each_hour(marks: int, age: timedelta, expected: float) -> None:
    assert status_score(marks, age) == pytest.approx(expected)


def _one(id: int, score: float, trendable: bool | None = None, **other: bool | str) -> Candidate:
    return Candidate(
        id, f"n{id}", str(other.get("language", "en")), score, trendable, bool(other.get("reviewed")),
        bool(other.get("requested")),
    )  # fmt: skip


SHOWN = [_one(1, 9.0, True), _one(2, 8.0, True), _one(3, 7.0, True)]


@pytest.mark.parametrize(
    ("found", "by_default", "asked"),
    [
        ([_one(4, 1.0)], False, [4]),
        ([*SHOWN, _one(4, 7.5), _one(5, 6.0)], False, [4]),
        ([*SHOWN[:2], _one(5, 1.0)], False, [5]),
        ([*SHOWN, _one(5, 1.0, language="de")], False, [5]),
        ([_one(4, 1.0, requested=True), _one(5, 1.0, reviewed=True), _one(6, 2.0, False)], False, []),
        ([_one(4, 1.0)], True, []),
        ([_one(4, 1.0), _one(4, 3.0)], False, [4]),
    ],
)
def test_the_team_is_asked_about_what_would_be_among_the_first(
    found: list[Candidate], by_default: bool, asked: list[int]
) -> None:
    assert [one.subject_id for one in near_the_top(found, by_default=by_default)] == asked


@given(st.text(max_size=60))
def test_any_address_has_a_host_or_none(url: str) -> None:
    host = host_of(f"https://{url}")
    assert host == host.lower()
    assert domains_of(host)[0] == host


def test_a_host_belongs_to_the_domains_above_it() -> None:
    assert host_of("https://News.Example.org:8080/a?b") == "news.example.org"
    assert domains_of("news.example.org") == ["news.example.org", "example.org", "org"]
    assert host_of("http://[::1") == ""


@pytest.mark.parametrize(
    ("changed", "expected"),
    [({}, True), ({"type": "video"}, False), ({"title": ""}, False), ({"description": ""}, False),
     ({"image": None}, False), ({"provider_name": ""}, False)],
)  # fmt: skip
def test_only_whole_articles_can_be_trends(changed: dict[str, str | None], expected: bool) -> None:
    page = {"type": "link", "title": "a", "description": "b", "image": "c", "provider_name": "d"}
    assert is_article({**page, **changed}) is expected
