"""Announcements: when they are shown, who has read them, and how people react."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import select

from kith.base.db import query
from kith.identity.audit.tables import events
from kith.social.announcements import store
from kith.social.emojis.unicode_emojis import is_emoji
from tests.conftest import TownBuilder
from tests.social.members import Member, join, join_all, until
from tests.social.posts import post
from tests.social.samples import image_file
from tests.social.shapes import always, check, entity, never
from tests.social.staff import employ, verdict
from tests.town import Town

ALL, ADMIN = "/api/v1/announcements", "/api/v1/admin/announcements"
ANNOUNCEMENT = entity("Announcement") | {"reactions": [always(entity("AnnouncementReaction"), "me")]}
STAFF_ANNOUNCEMENT = entity("StaffAnnouncement") | {"reactions": [never(entity("AnnouncementReaction"), "me")]}


def later(**distance: float) -> str:
    return (datetime.now(UTC) + timedelta(**distance)).isoformat()


async def announce(by: Member, text: str, **sent: Any) -> dict[str, Any]:
    made: dict[str, Any] = await by.post(ADMIN, json={"text": text, **sent})
    check(made, STAFF_ANNOUNCEMENT)
    return made


async def seen(member: Member, id: str, **params: Any) -> dict[str, Any] | None:
    found = await member.get(ALL, params=params)
    check(found, [ANNOUNCEMENT])
    return next((one for one in found if one["id"] == id), None)


def reaction(id: str, name: str) -> str:
    return f"{ALL}/{id}/reactions/{quote(name)}"


async def change_row(town: Town, id: str, **changed: Any) -> None:
    """What time does."""
    async with town.house() as house, house.works.begin() as work:
        found = await store.find(work.db, int(id))
        assert found is not None
        for name, value in changed.items():
            setattr(found, name, value)
        await store.change(work.db, found)


async def test_what_is_announced_is_shown_to_everybody_until_they_have_read_it(town: Town) -> None:
    admin = await employ(town, "administrator")
    ada, bob = await join_all(town, 2)
    shown = await post(ada, "Look here")
    text = f"Hello @{ada.name}, see {shown['url']} #Party <b>"

    made = await announce(admin, text)

    told = await seen(ada, made["id"])
    assert told is not None
    assert (told["read"], made["published"], made["text"]) == (False, True, text)
    assert "&lt;b&gt;" in told["content"]
    assert [one["id"] for one in told["mentions"]] == [ada.id]
    assert told["statuses"] == [{"id": shown["id"], "url": shown["url"]}]
    assert [one["name"] for one in told["tags"]] == ["Party"]
    assert await ada.post(f"{ALL}/{made['id']}/dismiss") == {}
    assert await ada.post(f"{ALL}/{made['id']}/dismiss") == {}
    assert await seen(ada, made["id"]) is None
    again = await seen(ada, made["id"], with_dismissed="true")
    assert again is not None
    assert again["read"]
    assert await seen(bob, made["id"]) is not None
    assert await verdict(ada, "POST", f"{ALL}/1/dismiss") == 404


async def test_an_announcement_is_changed_withdrawn_and_deleted(town: Town) -> None:
    admin, ada = await employ(town, "administrator"), await join(town)
    made = await announce(admin, "Frist")
    path = f"{ADMIN}/{made['id']}"

    assert (await admin.does("PUT", path, json={"text": "First"}))["text"] == "First"
    assert (await admin.get(path))["content"] == "<p>First</p>"
    assert made["id"] in [one["id"] for one in await admin.get(ADMIN)]
    await admin.post(f"{path}/unpublish")
    assert await seen(ada, made["id"]) is None
    assert await verdict(ada, "POST", f"{ALL}/{made['id']}/dismiss") == 404
    await admin.post(f"{path}/publish")
    assert await seen(ada, made["id"]) is not None
    assert await admin.delete(path) == {}
    assert await seen(ada, made["id"]) is None
    assert await verdict(admin, "DELETE", path) == 404
    events = [one for one in (await _audited(town)) if one[1] == made["id"]]
    assert [action for action, _ in events] == [
        "create_announcement",
        "update_announcement",
        "unpublish_announcement",
        "publish_announcement",
        "destroy_announcement",
    ]


async def _audited(town: Town) -> list[tuple[str, str]]:
    statement = query(select(events.c.action, events.c.context).order_by(events.c.created_at), tuple)
    async with town.house() as house, house.works.begin() as work:
        rows = await work.db.all(statement)
    return [(action, context["announcement"]["id"]) for action, context in rows if "announcement" in context]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "Text can't be blank"),
        ({"text": "  "}, "Text can't be blank"),
        ({"text": "a" * 5001}, "Text is too long (maximum is 5000 characters)"),
        ({"text": "x", "all_day": True}, "Starts at can't be blank, Ends at can't be blank"),
        ({"text": "x", "ends_at": "2001-01-01T00:00:00Z"}, "Ends at must be in the future"),
        ({"text": "x", "starts_at": "2035-01-02", "ends_at": "2035-01-01"}, "Ends at must be after the beginning"),
    ],
)
async def test_what_cannot_be_announced_is_refused(town: Town, sent: dict[str, Any], words: str) -> None:
    admin = await employ(town, "administrator")

    answer = await admin.call("POST", ADMIN, json=sent)

    assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {words}")


async def test_only_those_who_may_announce_do(town: Town) -> None:
    moderator, ada = await employ(town, "moderator"), await join(town)

    assert await verdict(moderator, "POST", ADMIN, json={"text": "x"}) == 403
    assert await verdict(ada, "GET", ADMIN) == 403
    assert (await town.http.get(ALL)).status_code == 401


async def test_scheduled_ones_are_published_in_time_and_ended_ones_withdrawn(town: Town) -> None:
    admin, ada = await employ(town, "administrator"), await join(town)
    soon = await announce(admin, "Soon", scheduled_at=later(seconds=1.5))
    brief = await announce(admin, "Brief", ends_at=later(seconds=1.5))
    far = await announce(admin, "Far", scheduled_at=later(days=9))
    assert [one["published"] for one in (soon, brief, far)] == [False, True, False]
    assert await seen(ada, far["id"]) is None

    async def is_done() -> bool:
        states = [(await admin.get(f"{ADMIN}/{one['id']}"))["published"] for one in (soon, brief, far)]
        return states == [True, False, False]

    await until(is_done)
    assert await seen(ada, soon["id"]) is not None
    assert await seen(ada, brief["id"]) is None
    assert (await admin.does("PUT", f"{ADMIN}/{far['id']}", data={"scheduled_at": ""}))["scheduled_at"] is None


async def test_what_is_over_is_not_shown_although_nobody_has_withdrawn_it(town: Town) -> None:
    admin, ada = await employ(town, "administrator"), await join(town)
    now = datetime.now(UTC)
    made = await announce(admin, "All day", starts_at=later(), ends_at=later(), all_day=True)
    assert await seen(ada, made["id"]) is not None

    await change_row(town, made["id"], starts_at=now - timedelta(days=2), ends_at=now - timedelta(days=1))

    assert await seen(ada, made["id"]) is None


async def test_everybody_reacts_once_with_each_emoji(town: Town) -> None:
    admin, (ada, bob) = await employ(town, "administrator"), await join_all(town, 2)
    made = await announce(admin, "Cake!")
    assert await ada.does("PUT", reaction(made["id"], "🎂")) == {}
    assert await ada.does("PUT", reaction(made["id"], "🎂")) == {}
    await bob.does("PUT", reaction(made["id"], "🎂"))
    await bob.does("PUT", reaction(made["id"], "❤️"))

    told = await seen(ada, made["id"])

    assert told is not None
    assert told["reactions"] == [
        {"name": "🎂", "count": 2, "me": True},
        {"name": "❤️", "count": 1, "me": False},
    ]
    assert await ada.delete(reaction(made["id"], "🎂")) == {}
    assert await verdict(ada, "DELETE", reaction(made["id"], "🎂")) == 404
    told = await seen(ada, made["id"])
    assert told is not None
    assert told["reactions"][0] == {"name": "🎂", "count": 1, "me": False}
    assert await verdict(ada, "PUT", reaction("1", "🎂")) == 404


async def test_there_are_at_most_eight_kinds_of_reactions_and_only_known_emoji(town: Town) -> None:
    admin, (ada, bob) = await employ(town, "administrator"), await join_all(town, 2)
    made = await announce(admin, "React!")
    for name in "🍎🍐🍊🍋🍌🍉🍇🍓":
        await ada.does("PUT", reaction(made["id"], name))

    ninth = await ada.call("PUT", reaction(made["id"], "🍒"))
    unknown = await ada.call("PUT", reaction(made["id"], "no_such_emoji"))

    assert (ninth.status_code, ninth.json()["error"]) == (
        422,
        "Validation failed: Limit of different reactions reached",
    )
    assert (unknown.status_code, unknown.json()["error"]) == (422, "Validation failed: Name is not a recognized emoji")
    await bob.does("PUT", reaction(made["id"], "🍓"))


async def test_the_communitys_own_emoji_are_reactions_too(town: Town, tmp_path: Any) -> None:
    admin, ada = await employ(town, "administrator"), await join(town)
    picture = tmp_path / "blob.png"
    picture.write_bytes(image_file("PNG"))
    await town.kith("emoji", "add", "party_blob", str(picture))
    made = await announce(admin, "A :party_blob:!")

    await ada.does("PUT", reaction(made["id"], "party_blob"))

    told = await seen(ada, made["id"])
    assert told is not None
    [one] = told["reactions"]
    assert (one["name"], one["count"], one["me"]) == ("party_blob", 1, True)
    assert one["url"].endswith(".png")
    assert [emoji["shortcode"] for emoji in told["emojis"]] == ["party_blob"]


@pytest.mark.parametrize(
    "text",
    ["😀", "❤️", "❤", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "☺️"],
)
def test_one_emoji_is_known(text: str) -> None:
    assert is_emoji(text)


@pytest.mark.parametrize(
    "text", ["", "a", "1", "#", "*", "😀😀", "😀a", "é", "©a", "\u200d", "🇩", "x" * 100, "😀" * 100]
)
def test_anything_else_is_no_emoji(text: str) -> None:
    assert not is_emoji(text)


async def test_the_operator_announces_by_command(town: Town) -> None:
    ada = await join(town)

    said = await town.kith("announcements", "create", "From the command line", "--ends", "2035-01-01")
    [id] = [word.strip(".\n") for word in said.split() if word.strip(".\n").isdigit()]

    told = await seen(ada, id)
    assert told is not None
    assert told["content"] == "<p>From the command line</p>"
    assert "From the command line" in await town.kith("announcements", "list")
    await town.kith("announcements", "delete", id)
    assert await seen(ada, id) is None
    await town.kith("announcements", "delete", id, expect=1)


async def test_an_announcement_is_mailed_to_everybody_once(new_town: TownBuilder) -> None:
    town = await new_town(title="Our place")
    owner, ada = await employ(town, "owner"), await join(town)
    shut_out = await join(town)
    await owner.post(f"/api/v1/admin/accounts/{shut_out.id}/action", json={"type": "disable"})
    made = await announce(owner, "We move.\nOn Friday <at noon>.")
    later_on = await announce(owner, "not yet", scheduled_at=later(days=1))

    refused = await ada.call("POST", f"{ADMIN}/{made['id']}/distribution")
    too_early = await owner.call("POST", f"{ADMIN}/{later_on['id']}/distribution")
    sent = await owner.post(f"{ADMIN}/{made['id']}/distribution")
    again = await owner.call("POST", f"{ADMIN}/{made['id']}/distribution")
    by_command = await town.kith("announcements", "mail", str(made["id"]), expect=1)

    def mailed() -> list[EmailMessage]:
        return [mail for mail in town.mails() if mail["Subject"] == "Announcement from Our place"]

    async def is_mailed() -> bool:
        return len(mailed()) == 2

    await until(is_mailed)
    check(sent, STAFF_ANNOUNCEMENT)
    assert sent["mailed_at"]
    assert (refused.status_code, too_early.status_code, again.status_code) == (403, 422, 422)
    assert again.json()["error"] == "Validation failed: has already been sent"
    assert "already been sent" in by_command
    assert {mail["To"] for mail in mailed()} == {f"{one.name}@example.org" for one in (owner, ada)}
    body, shown = mailed()[0].get_body(("plain",)), mailed()[0].get_body(("html",))
    assert body is not None
    assert shown is not None
    assert body.get_content().splitlines()[:2] == ["We move.", "On Friday <at noon>."]
    assert "<p>We move.<br>On Friday &lt;at noon&gt;.</p>" in shown.get_content()
