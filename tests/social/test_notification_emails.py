"""E-mail about notifications: to whom, about what, and how to be rid of it."""

from __future__ import annotations

import re
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.base.jobs.tables import jobs
from kith.identity.for_social import last_seen
from kith.identity.providers.oauth2.tables import oauth_tokens
from kith.identity.sessions.tables import sessions
from kith.identity.users import store as users
from kith.identity.users.tables import users as people
from tests.social.members import Member, join_all, until
from tests.social.posts import does, post, settle
from tests.social.streams import listen
from tests.town import Town

PATH = "/api/v1/notifications/emails"
USUAL = {
    "mention": True,
    "follow": True,
    "follow_request": True,
    "quote": True,
    "favourite": False,
    "reblog": False,
    "always": False,
    "report": True,
}
_at = bindparam("at", type_=Instant())
_tokens = command(update(oauth_tokens).values(created_at=_at, last_used_at=_at))
_sessions = command(update(sessions).values(last_used_at=_at))
_now = command(update(jobs).where(jobs.c.kind == "notifications.mail").values(run_at=_at))

_speak = command(
    update(people)
    .where(people.c.username == bindparam("name"))
    .values(attributes=bindparam("to", type_=people.c.attributes.type))
)


async def go_away(town: Town) -> None:
    """As if nobody had been here for some days."""
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_tokens, at=work.now - timedelta(days=3))
        await work.db.run(_sessions, at=work.now - timedelta(days=3))


async def is_here(town: Town, member: Member) -> bool:
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, member.name)
        assert user is not None
        seen = await last_seen(work, user.id)
        return seen is not None and work.now - seen < timedelta(days=1)


async def minutes_later(town: Town) -> None:
    """What is to be mailed in two minutes is mailed now."""
    await settle(town)
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_now, at=work.now)
    await settle(town)


async def mails_to(town: Town, member: Member, count: int) -> list[EmailMessage]:
    """All of them, once there are as many."""

    def found() -> list[EmailMessage]:
        mine = [mail for mail in town.mails() if mail["to"] == f"{member.name}@example.org"]
        return [mail for mail in mine if mail["list-unsubscribe"]]

    async def arrived() -> bool:
        return len(found()) >= count

    await until(arrived)
    return found()


def words(mail: EmailMessage) -> str:
    body: Any = mail.get_body(("plain",))
    return str(body.get_content())


async def test_who_has_not_been_here_is_written_to(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    own = await post(ada)
    await go_away(town)
    said = await post(bob, f"hello @{ada.name}")
    await bob.to(ada, "follow")
    await does(bob, "favourite", own)
    await post(bob, f"psst @{cat.name}", visibility="direct")  # held back
    await minutes_later(town)
    mails = await mails_to(town, ada, 2)
    subjects = sorted(str(mail["subject"]) for mail in mails)
    assert subjects == [f"{bob.name} followed you", f"{bob.name} mentioned you"]
    [mention] = [mail for mail in mails if "mentioned" in mail["subject"]]
    assert said["url"] in words(mention)
    assert "hello" not in words(mention)
    assert await mails_to(town, cat, 0) == []


async def test_who_is_here_or_has_read_it_is_not(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await post(bob, f"hello @{ada.name}")
    await minutes_later(town)
    await go_away(town)
    await post(bob, f"again @{ada.name}")
    await settle(town)
    [newest, *_] = await ada.get("/api/v1/notifications")
    await ada.post("/api/v1/markers", json={"notifications": {"last_read_id": newest["id"]}})
    await go_away(town)
    await minutes_later(town)
    await go_away(town)
    await post(bob, f"a third time @{ada.name}")
    await minutes_later(town)
    assert len(await mails_to(town, ada, 1)) == 1


async def test_who_hears_by_push_or_has_a_stream_open_is_not(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    keys = {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    }
    endpoint = "https://push.example/1"
    await ada.post("/api/v1/push/subscription", json={"subscription": {"endpoint": endpoint, "keys": keys}})
    async with listen(cat, "public"):
        await go_away(town)
        await post(bob, f"hello @{ada.name} and @{cat.name}")
        await until(lambda: is_here(town, cat))
        await minutes_later(town)
    await ada.delete("/api/v1/push/subscription")
    await go_away(town)
    await post(bob, f"once more @{ada.name} and @{cat.name}")
    await minutes_later(town)
    for member in (ada, cat):
        assert len(await mails_to(town, member, 1)) == 1


async def test_what_is_not_shown_is_not_written_about(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.patch(PATH, json={"always": True})
    hidden = {"phrase": "secret", "context": ["notifications"], "irreversible": True}
    await ada.post("/api/v1/filters", json=hidden)
    for text in ("secret", "plain"):
        said = await post(bob, f"@{ada.name} {text}")
    await minutes_later(town)
    [mail] = await mails_to(town, ada, 1)
    assert said["url"] in words(mail)


async def test_types_are_chosen(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    assert await ada.get(PATH) == USUAL
    assert await ada.patch(PATH, json={"mention": False, "favourite": True, "always": True}) == USUAL | {
        "mention": False,
        "favourite": True,
        "always": True,
    }
    own = await post(ada)
    await does(bob, "favourite", own)
    await post(bob, f"@{ada.name}")
    await minutes_later(town)
    [mail] = await mails_to(town, ada, 1)
    assert "favourited" in mail["subject"]
    assert (await ada.call("PATCH", PATH, json={"mention": "perhaps"})).status_code == 422
    assert (await ada.get(PATH))["mention"] is False


async def test_the_link_in_a_mail_is_enough_to_be_rid_of_it(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.patch(PATH, json={"always": True})
    await post(bob, f"@{ada.name}")
    await minutes_later(town)
    [mail] = await mails_to(town, ada, 1)
    assert mail["list-unsubscribe-post"] == "List-Unsubscribe=One-Click"
    found = re.fullmatch(r"<(http[^>]+)>", str(mail["list-unsubscribe"]))
    assert found is not None
    url = found.group(1)
    assert url in words(mail)
    # Looking changes nothing: some programs follow every link.
    shown = await town.http.get(url)
    assert (shown.status_code, "<form" in shown.text) == (200, True)
    assert (await ada.get(PATH))["mention"] is True
    for wrong in (url[:-1] + ("0" if url[-1] != "0" else "1"), url.replace("mention", "follow"), f"{url}x"):
        assert (await town.http.post(wrong)).status_code == 404
    done = await town.http.post(url, data={"List-Unsubscribe": "One-Click"})
    assert done.status_code == 200
    assert await ada.get(PATH) == USUAL | {"mention": False, "always": True}


async def test_mails_are_in_the_language_of_their_reader(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.patch(PATH, json={"always": True})
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_speak, name=ada.name, to={"settings": {"locale": "de"}})
    await post(bob, f"@{ada.name}")
    await minutes_later(town)
    [mail] = await mails_to(town, ada, 1)
    assert "erwähnt" in mail["subject"]
    assert "Du erhältst diese E-Mail" in words(mail)
