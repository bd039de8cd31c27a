"""Texts, addresses and numbers that mean harm: what apps are given of them does nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import AS, RemotePerson
from tests.social.members import Member, join
from tests.town.town import Engine

EVIL = '<script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)" onclick="x()">x</a>'
CONTROLS = "a\0b\x07c\x1b[31md\u202ee\u2066f\r\ng"
SCHEMES = ("javascript:alert(1)", "data:text/html,<script>", "file:///etc/passwd", "vbscript:x", " javascript:x")
INSIDE = ("http://127.0.0.1:1/x.png", "http://169.254.169.254/latest", "http://10.0.0.1/x.png", "http://[::1]/x.png")
_RUNS = re.compile(
    r"<script|<img|onerror|onclick|<iframe|<style|href=.?\s*(?:javascript|data|vbscript|file):", re.IGNORECASE
)


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as made:
        yield made


@pytest.fixture(scope="module")
async def bob(lane: Street) -> Member:
    return await join(lane.here)


async def arrives(lane: Street, bob: Member, author: RemotePerson, note: dict[str, Any]) -> dict[str, Any]:
    """Sent to bob, and as his app shows it."""
    note["tag"] = [{"type": "Mention", "href": bob.me["uri"]}, *note.get("tag", [])]
    await lane.sends(author, author.create(note))
    found = await bob.get("/api/v2/search", params={"q": note["id"], "resolve": "true", "type": "statuses"})
    return dict(found["statuses"][0])


def html_of(status: dict[str, Any]) -> list[str]:
    """What apps show as HTML."""
    account = status["account"]
    return [status["content"], account["note"], *(field["value"] for field in account["fields"])]


def addresses(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [
            one
            for name, inner in value.items()
            for one in (
                [inner]
                if name.endswith(("url", "avatar", "header", "_static")) and isinstance(inner, str)
                else addresses(inner)
            )
        ]
    return [one for inner in value for one in addresses(inner)] if isinstance(value, list) else []


async def test_nothing_that_runs_is_shown(lane: Street, bob: Member) -> None:
    eve = lane.there.person("eve", key=0, summary=EVIL)
    eve.document["name"] = EVIL + CONTROLS
    eve.document["attachment"] = [{"type": "PropertyValue", "name": EVIL, "value": EVIL + CONTROLS}]
    eve.document["tag"] = [{"type": "Emoji", "name": ":<b>:", "icon": {"type": "Image", "url": "javascript:x"}}]
    options = [{"type": "Note", "name": EVIL + str(number), "replies": {"totalItems": 1}} for number in range(600)]
    note = eve.note("1", EVIL + CONTROLS, type="Question", oneOf=options, summary=EVIL + CONTROLS)

    shown = await arrives(lane, bob, eve, note)

    for html in html_of(shown):
        assert not _RUNS.search(html), html
    assert len(shown["poll"]["options"]) <= 500
    for text in (shown["account"]["display_name"], shown["spoiler_text"], shown["poll"]["options"][0]["title"]):
        assert "\0" not in text
    page = await lane.here.http.get(f"/@{eve.handle}/{shown['id']}", headers={"Accept": "text/html"})
    assert page.status_code < 500
    assert "<script>alert" not in page.text
    assert "onerror=alert" not in page.text.replace("&lt;img src=x onerror=alert", "")


async def test_addresses_are_of_the_web(lane: Street, bob: Member) -> None:
    for number, bad in enumerate(SCHEMES):
        image = {"type": "Image", "mediaType": "image/png", "url": bad}
        eve = lane.there.person(f"scheme{number}", key=1, icon=image, image=image, url=bad)
        eve.document["attachment"] = [{"type": "PropertyValue", "name": "x", "value": f'<a href="{bad}">x</a>'}]
        emoji = {"type": "Emoji", "name": ":evil:", "icon": image}
        note = eve.note("1", f'<a href="{bad}">x</a> :evil:', url=bad, attachment=[image], tag=[emoji])

        shown = await arrives(lane, bob, eve, note)

        for html in html_of(shown):
            assert not _RUNS.search(html), html
        assert all(one.startswith(("http://", "https://")) for one in addresses(shown)), addresses(shown)


async def test_pictures_inside_our_network_are_not_fetched(lane: Street, bob: Member) -> None:
    for number, inside in enumerate((*INSIDE, f"{lane.here.base_url}/api/v1/instance")):
        image = {"type": "Image", "mediaType": "image/png", "url": inside}
        eve = lane.there.person(f"inside{number}", key=2, icon=image, image=image)
        emoji = {"type": "Emoji", "name": ":in:", "icon": image}
        note = eve.note("1", f'<a href="{inside}">x</a> :in:', attachment=[image], tag=[emoji])

        shown = await arrives(lane, bob, eve, note)

        ours, statuses = f"{lane.here.base_url}/", list[int]()
        for one in addresses([shown["media_attachments"], shown["emojis"], shown["account"]]):
            if one.startswith(ours) and one != inside:
                answer = await lane.here.http.get(one)
                is_picture = answer.headers.get("content-type", "").startswith("image/")
                assert answer.status_code == 404 or is_picture, f"{one}: {answer.status_code}"
                statuses.append(answer.status_code)
        assert 404 in statuses
        assert shown["card"] is None


async def test_bombs_of_tags(lane: Street, bob: Member) -> None:
    eve, away = lane.there.person("bomber", key=3), lane.away
    icon = {"type": "Image", "url": f"{lane.there.url}/x.png"}
    bombs: dict[str, list[Any]] = {
        "mentions": [{"type": "Mention", "href": f"{away.url}/users/m{number}"} for number in range(1000)],
        "words": [{"type": "Hashtag", "name": f"#tag{number}"} for number in range(4000)],
        "emoji": [{"type": "Emoji", "name": f":e{number}:", "icon": icon} for number in range(4000)],
        "long": [
            {"type": "Hashtag", "name": "#" + "x" * 10_000},
            {"type": "Emoji", "name": "y" * 10_000, "icon": icon},
        ],
        "odd": [{"type": "Mention", "href": one} for one in SCHEMES] + [{"type": "Hashtag", "name": CONTROLS}],
    }
    for name, tags in bombs.items():
        before = len(away.asked)
        words = " ".join(f":e{number}:" for number in range(2000))
        shown = await arrives(lane, bob, eve, eve.note(name, words, tag=tags))
        assert len(shown["tags"]) <= 100, name
        assert len(shown["emojis"]) <= 250, name
        assert len(shown["mentions"]) <= 250, name
        assert len(away.asked) - before <= 120, name


async def test_times_numbers_and_languages_out_of_this_world(lane: Street, bob: Member) -> None:
    eve = lane.there.person("odd", key=4)
    for number, value in enumerate(
        ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59+14:00", "-1", "1e309", 2**80, -1)
    ):
        note = eve.note(
            f"odd-{number}",
            published=value,
            updated=value,
            type="Question",
            oneOf=[{"type": "Note", "name": "x", "replies": {"totalItems": value}}],
            closed=value,
            endTime=value,
            votersCount=value,
            likes={"type": "Collection", "totalItems": value},
            shares={"type": "Collection", "totalItems": value},
            contentMap={"x" * 5000: "x", "\0": "y"},
            sensitive=value,
            conversation="\0" + "x" * 5000,
        )
        shown = await arrives(lane, bob, eve, note)
        assert 0 <= shown["favourites_count"] < 2**31
        assert (await bob.call("GET", f"/api/v1/statuses/{shown['id']}/context")).status_code == 200


async def test_a_post_in_our_name_is_not_taken_from_a_list(lane: Street, bob: Member) -> None:
    """A list that embeds posts of others, or of ours, is believed about its own host only."""
    eve = lane.there.person("lister", key=5)
    forged = {"type": "Note", "content": "<p>Forged</p>", "attributedTo": bob.me["uri"], "@context": AS}
    items = [forged | {"id": f"{bob.me['uri']}/statuses/{number}"} for number in range(3)]
    items += [{"type": "Create", "actor": bob.me["uri"], "object": one} for one in items]
    for name in ("outbox", "featured"):
        eve.document[name] = lane.there.serves_collection(f"/lister/{name}", items)
    await bob.post("/api/v1/follows", json={"uri": eve.handle})
    await lane.settled()
    own = await bob.get(f"/api/v1/accounts/{bob.id}/statuses")
    assert own == []
