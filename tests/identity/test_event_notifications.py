"""Notification rules: from an event of the audit trail to whoever is told of it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from sqlalchemy import bindparam, select, update

from kith.base.db import Instant, command, query
from kith.base.jobs.tables import jobs
from kith.identity.audit import service as audit
from kith.identity.event_notifications.message import EventMessage, slack_body
from kith.identity.event_notifications.tasks import MATCH, MOST_AT_ONCE, TELL_HELD
from kith.identity.event_notifications.webhook import CannotBeSent, read_headers
from kith.identity.policies.kinds.event_matcher import EventMatcherPolicy, mismatches
from kith.social.event_messages.tasks import harmless
from tests.conftest import TownBuilder
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.town import Person, Town

_due = command(update(jobs).where(jobs.c.kind == bindparam("of")).values(run_at=bindparam("moment", type_=Instant())))
_waiting = query(select(jobs.c.payload).where(jobs.c.kind == bindparam("of")), str)
_failures = query(select(jobs.c.error).where(jobs.c.kind == "events.call"), str)


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def until(claim: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await claim():
            await asyncio.sleep(0.02)


async def id_of(owner: Person, person: Person) -> int:
    [found] = await results(owner, "/core/users/", username=person.username)
    number: int = found["pk"]
    return number


async def rule_for(owner: Person, action: str, transport: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A rule that tells of this action."""
    rule = await make(owner, "/events/rules/", name=new_name("rule"), transports=[transport["pk"]], **fields)
    policy = await make(owner, "/policies/event_matcher/", name=new_name("matcher"), action=action)
    await make(owner, "/policies/bindings/", policy=policy["pk"], target=rule["pk"], order=0)
    return rule


async def local(owner: Person) -> dict[str, Any]:
    return await make(owner, "/events/transports/", name=new_name("transport"), mode="local")


async def happen(town: Town, action: str, *, times: int = 1, user: int | None = None, **context: Any) -> None:
    async with town.house() as house, house.works.begin() as work:
        for _ in range(times):
            await audit.record(work, action, "tests.things", user_id=user, context=context)


async def told(person: Person, words: str = "") -> list[dict[str, Any]]:
    return [one for one in await results(person, "/events/notifications/") if words in one["body"]]


class Receiver:
    """Somebody's server for webhooks; answers with the statuses it is given, then with 200."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[tuple[dict[str, str], bytes]] = asyncio.Queue()
        self.statuses: list[int] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.heard.put_nowait((dict(request.headers), body))
        status = self.statuses.pop(0) if self.statuses else 200
        return web.Response(status=status, headers={"Retry-After": "1"} if status == 429 else {})

    async def next(self) -> tuple[dict[str, str], Any]:
        async with asyncio.timeout(60):
            headers, body = await self.heard.get()
        return headers, json.loads(body)


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    made = Receiver()
    app = web.Application()
    app.router.add_post("/hook", made.answer)
    async with TestServer(app) as server:
        made.url = str(server.make_url("/hook"))
        yield made


async def test_members_of_the_group_and_the_events_person_are_told(town: Town, ada: Person) -> None:
    bob, eve, kim, joe = [await town.sign_up() for _ in range(4)]
    upper = await make(ada, "/core/groups/", name=new_name("g"), user_set=[await id_of(ada, bob)], parent=None)
    lower = {"name": new_name("g"), "user_set": [await id_of(ada, eve)], "parent": upper["pk"]}
    await make(ada, "/core/groups/", **lower)
    action = new_name("custom_a").replace("-", "_")
    to = {"destination_group": upper["pk"], "destination_event_user": True, "severity": "warning"}
    await rule_for(ada, action, await local(ada), **to)

    await happen(town, action, user=await id_of(ada, kim), message="The roof is open")
    for person in (bob, eve, kim):
        await until(lambda person=person: _has(person, "The roof is open"))  # type: ignore[misc]
        [found] = await told(person, "The roof is open")
        assert (found["severity"], found["count"], found["seen"]) == ("warning", 1, False)
        assert found["user"] == await id_of(ada, person)
    assert await told(joe) == []

    # Everybody sees their own only, and can change nothing but that they have seen it.
    [mine], [hers] = await told(bob), await told(eve)
    assert (await bob.get(f"{API}/events/notifications/{hers['pk']}/")).status_code == 404
    assert (await bob.call("DELETE", f"{API}/events/notifications/{hers['pk']}/")).status_code == 404
    item = f"{API}/events/notifications/{mine['pk']}/"
    changed = await bob.call("PATCH", item, json={"seen": True, "body": "x", "severity": "alert"})
    assert changed.json() == mine | {"seen": True, "last_updated": changed.json()["last_updated"]}
    assert (await eve.call("POST", f"{API}/events/notifications/mark_all_seen/")).status_code == 204
    assert [one["seen"] for one in await told(eve)] == [True]
    assert [one["seen"] for one in await told(kim)] == [False]
    assert (await bob.call("DELETE", item)).status_code == 204
    assert await results(ada, "/audit/events/", search=mine["pk"]) == []


async def _has(person: Person, words: str) -> bool:
    return bool(await told(person, words))


async def test_only_what_a_bound_policy_lets_through_is_told(town: Town, ada: Person) -> None:
    action, bob = new_name("custom_b").replace("-", "_"), await town.sign_up()
    group = await make(ada, "/core/groups/", name=new_name("g"), user_set=[await id_of(ada, bob)], parent=None)
    way, to = await local(ada), {"destination_group": group["pk"]}
    await make(ada, "/events/rules/", name=new_name("unbound"), transports=[way["pk"]], **to)
    rule = await make(ada, "/events/rules/", name=new_name("rule"), transports=[way["pk"]], **to)
    expression = f"return context['event']['action'] == '{action}' and context['event']['context']['n'] > 1"
    policy = await make(ada, "/policies/expression/", name=new_name("p"), expression=expression)
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=rule["pk"], order=0)

    await happen(town, action, n=1, message="one")
    await happen(town, action, n=2, message="two")
    await until(lambda: _has(bob, "two"))
    await _until_asked(town)
    assert [one["body"].splitlines()[0].partition(": ")[2] for one in await told(bob)] == ["two"]


async def _until_asked(town: Town) -> None:
    """Until the rules were asked about everything that has happened."""

    async def is_done() -> bool:
        async with town.house() as house, house.works.begin() as work:
            return not await work.db.all(_waiting, of=MATCH.name)

    await until(is_done)


async def test_what_comes_of_telling_is_not_told_in_turn(town: Town, ada: Person) -> None:
    """A rule for every event, whose policies make events themselves: one by its words, one by failing."""
    action, bob = new_name("custom_c").replace("-", "_"), await town.sign_up()
    group = await make(ada, "/core/groups/", name=new_name("g"), user_set=[await id_of(ada, bob)], parent=None)
    rule = await make(
        ada, "/events/rules/", name=new_name("r"), transports=[(await local(ada))["pk"]], destination_group=group["pk"]
    )
    source = f"ak_create_event('{action}_again', message='echo')\nreturn '{action}' in context['event']['action']"
    for expression in (source, "return 1 / 0"):
        policy = await make(
            ada, "/policies/expression/", name=new_name("p"), expression=expression, execution_logging=True
        )
        place = {"policy": policy["pk"], "target": rule["pk"], "order": 0, "failure_result": False}
        await make(ada, "/policies/bindings/", **place)
    await happen(town, action, message="once")
    await until(lambda: _has(bob, "once"))
    await _until_asked(town)
    assert await results(ada, "/audit/events/", action=f"{action}_again")
    assert await told(bob, "echo") == []
    assert len(await told(bob, "once")) == 1
    assert (await ada.call("DELETE", f"{API}/events/rules/{rule['pk']}/")).status_code == 204


async def test_a_storm_is_told_with_a_count(town: Town, ada: Person) -> None:
    action, bob = new_name("custom_d").replace("-", "_"), await town.sign_up()
    group = await make(ada, "/core/groups/", name=new_name("g"), user_set=[await id_of(ada, bob)], parent=None)
    rule = await rule_for(ada, action, await local(ada), destination_group=group["pk"])
    await happen(town, action, times=MOST_AT_ONCE + 25, message="again")

    async def is_counted() -> bool:
        await _until_asked(town)
        return len(await told(bob)) == MOST_AT_ONCE

    await until(is_counted)
    async with town.house() as house, house.works.begin() as work:
        [held] = [one for one in await work.db.all(_waiting, of=TELL_HELD.name) if rule["pk"] in one]
        await work.db.run(_due, of=TELL_HELD.name, moment=work.now)  # as if the minute were over
    assert json.loads(held) == {"rule": rule["pk"]}
    await until(lambda: _has(bob, "This stands for 25 events since"))
    assert sorted(one["count"] for one in await told(bob)) == [1] * MOST_AT_ONCE + [25]

    # The next minute is still part of the storm.
    await happen(town, action, times=3, message="more")
    await _until_asked(town)
    assert await told(bob, "more") == []


async def test_a_webhook_is_signed_and_sent_again_until_it_is_taken(new_town: TownBuilder) -> None:
    town = await new_town(private_hosts="127.0.0.1")
    ada = await town.owner()
    async with receiving() as receiver:
        receiver.statuses = [429]
        way = await make(
            ada, "/events/transports/", name="hook", mode="webhook", webhook_url=receiver.url,
            webhook_secret="a secret", send_once=True,
        )  # fmt: skip
        assert "webhook_secret" not in way
        await rule_for(ada, "custom_roof", way, severity="alert")
        await happen(town, "custom_roof", message="open")
        (refused, first), (headers, body) = await receiver.next(), await receiver.next()
        assert body | {"created": ""} == first | {"created": ""}
        assert headers["X-Kith-Notification"] == refused["X-Kith-Notification"] == body["id"]
        assert (body["severity"], body["count"], body["event"]["action"]) == ("alert", 1, "custom_roof")
        assert body["body"].startswith("Custom roof: open")

        # Who changes where it goes must know the secret.
        item = f"{API}/events/transports/{way['pk']}/"
        moved = await ada.call("PATCH", item, json={"webhook_url": receiver.url + "?elsewhere"})
        assert moved.status_code == 400
        assert list(moved.json()) == ["webhook_secret"]

        # A mapping makes the body, another one the headers.
        shape = "return {'text': notification.body.upper(), 'who': user.username}"
        mapping = await make(ada, "/propertymappings/notification/", name="body", expression=shape)
        tops = await make(
            ada,
            "/propertymappings/notification/",
            name="tops",
            expression="return {'X-Level': notification['severity']}",
        )
        await ada.call(
            "PATCH", item, json={"webhook_mapping_body": mapping["pk"], "webhook_mapping_headers": tops["pk"]}
        )
        tried = await ada.call("POST", f"{item}test/")
        assert (tried.status_code, tried.json()) == (200, {"messages": ["The receiver has taken it."]})
        async with asyncio.timeout(60):
            headers, raw = await receiver.heard.get()
        assert headers["X-Level"] == "notice"
        assert headers["X-Hub-Signature"] == f"sha256={hmac.new(b'a secret', raw, hashlib.sha256).hexdigest()}"
        assert json.loads(raw) == {"text": "THIS IS A TEST OF THE TRANSPORT HOOK.", "who": ada.username}

        await ada.call(
            "PATCH", f"{API}/propertymappings/notification/{tops['pk']}/", json={"expression": "return {'Host': 'x'}"}
        )
        failed = await ada.call("POST", f"{item}test/")
        assert (failed.status_code, failed.json()["detail"]) == (
            409,
            "It was not delivered. The header 'Host' cannot be sent.",
        )


async def test_nothing_is_sent_into_the_servers_own_network(town: Town, ada: Person) -> None:
    async with receiving() as receiver:
        way = await make(
            ada,
            "/events/transports/",
            name=new_name("hook"),
            mode="webhook_slack",
            webhook_url=receiver.url,
            send_once=True,
        )
        answer = await ada.call("POST", f"{API}/events/transports/{way['pk']}/test/")
        assert answer.status_code == 409
        assert receiver.heard.empty()
        action = new_name("custom_e").replace("-", "_")
        await rule_for(ada, action, way)
        await happen(town, action)

        async def is_put_off() -> bool:
            async with town.house() as house, house.works.begin() as work:
                return any(way["name"] in (words or "") for words in await work.db.all(_failures))

        await until(is_put_off)
        assert receiver.heard.empty()


async def test_mail_and_direct_messages(town: Town, ada: Person) -> None:
    action, bob = new_name("custom_f").replace("-", "_"), await town.sign_up()
    await ada.call("PATCH", f"{API}/core/users/{await id_of(ada, bob)}/", json={"email": f"{bob.username}@example.org"})
    group = await make(ada, "/core/groups/", name=new_name("g"), user_set=[await id_of(ada, bob)], parent=None)
    name, sender = new_name("mail"), await id_of(ada, ada)
    mail = await make(ada, "/events/transports/", name=name, mode="email", email_subject_prefix="[door] ")
    direct = await make(ada, "/events/transports/", name=new_name("dm"), mode="direct", direct_sender=sender)
    for way in (mail, direct):
        await rule_for(ada, action, way, destination_group=group["pk"])
    eve = await town.sign_up()
    await happen(town, action, message=f"@{eve.username} rang\nBcc: x@example.org")

    async def has_mail() -> bool:
        return any(
            one["To"] == f"{bob.username}@example.org" and "[door]" in str(one["Subject"]) for one in town.mails()
        )

    await until(has_mail)
    [sent] = [one for one in town.mails() if "[door]" in str(one["Subject"])]
    assert sent["Bcc"] is None

    token = await make(ada, "/core/tokens/", identifier=new_name("t"), user=await id_of(ada, bob), scopes="read")
    other = await make(ada, "/core/tokens/", identifier=new_name("t"), user=await id_of(ada, eve), scopes="read")

    async def inbox(key: str) -> list[Any]:
        found = await town.http.get("/api/v1/conversations", headers={"Authorization": f"Bearer {key}"})
        return list(found.json())

    async def has_message() -> bool:
        return bool(await inbox(token["key"]))

    await until(has_message)
    [one] = await inbox(token["key"])
    assert [person["username"] for person in one["last_status"]["mentions"]] == [bob.username]
    assert one["last_status"]["visibility"] == "direct"
    assert await inbox(other["key"]) == []


async def test_what_a_transport_needs_is_asked_for(town: Town, ada: Person) -> None:
    async def complaints(person: Person, **sent: Any) -> dict[str, Any]:
        answer = await person.call("POST", f"{API}/events/transports/", json={"name": new_name("t"), **sent})
        assert answer.status_code == 400
        found: dict[str, Any] = answer.json()
        return found

    assert list(await complaints(ada, mode="webhook")) == ["webhook_url"]
    assert list(await complaints(ada, mode="webhook_slack", webhook_url="ftp://x.example")) == ["webhook_url"]
    assert list(await complaints(ada, mode="direct")) == ["direct_sender"]
    assert list(await complaints(ada, mode="pigeon")) == ["mode"]
    bob = await person_who_may(town, ada, "events.add_notificationtransport", "events.change_notificationtransport")
    assert list(await complaints(bob, mode="direct", direct_sender=await id_of(ada, ada))) == ["direct_sender"]
    scope = await make(ada, "/propertymappings/scope/", name=new_name("s"), expression="return {}", scope_name="x")
    wrong = await complaints(ada, mode="webhook", webhook_url="https://x.example", webhook_mapping_body=scope["pk"])
    assert list(wrong) == ["webhook_mapping_body"]
    eve, way = await town.sign_up(), await local(ada)
    assert (await eve.call("POST", f"{API}/events/transports/{way['pk']}/test/")).status_code == 403
    assert (await bob.call("POST", f"{API}/events/transports/{way['pk']}/test/")).status_code == 200
    assert [one["event"] for one in await told(bob)] == [None]


async def test_administrators_hear_of_failures_from_the_start(new_town: TownBuilder) -> None:
    """Also what happened while nobody was there to tell it, or before the server was killed."""
    town = await new_town()
    ada = await town.owner()
    assert {one["name"] for one in await results(ada, "/events/rules/")} == {
        "default-notify-configuration-error", "default-notify-exception"
    }  # fmt: skip
    await town.kill()
    await happen(town, "configuration_error", message="The certificate is gone")
    await happen(town, "custom_boring", message="nothing")
    async with town.house() as house, house.works.begin() as work:
        assert len(await work.db.all(_waiting, of=MATCH.name)) == 1  # what no rule wants costs no job
    await town.start()
    await until(lambda: _has(ada, "The certificate is gone"))
    [found] = await told(ada)
    assert found["severity"] == "alert"


EVENT = {
    "action": "model_updated",
    "app": "core.user",
    "client_ip": "10.1.2.3",
    "username": "ada",
    "context": {"model": {"app": "core", "model_name": "user", "pk": 3, "name": "Bob"}},
}


@pytest.mark.parametrize(
    ("asked", "others"),
    [
        ({}, []),
        ({"action": "model_updated"}, []),
        ({"action": "Model_Updated"}, []),
        ({"action": "login"}, ["action"]),
        ({"app": "core"}, []),
        ({"app": "core.user"}, []),
        ({"app": "cor"}, ["app"]),
        ({"client_ip": "10.1.2.3"}, []),
        ({"client_ip": "10.0.0.0/8"}, []),
        ({"client_ip": "2001:db8::/32"}, ["client_ip"]),
        ({"model": "user"}, []),
        ({"model": "core.user"}, []),
        ({"model": "core.group"}, ["model"]),
        ({"query": "ADA bob"}, []),
        ({"query": "ada eve"}, ["query"]),
        ({"action": "login", "app": "core"}, ["action"]),
    ],
)
def test_an_event_matches_if_all_that_is_asked_for_is_so(asked: dict[str, str], others: list[str]) -> None:
    fields: dict[str, Any] = dict.fromkeys(("action", "client_ip", "app", "model", "query")) | asked
    known = dict.fromkeys(("pk", "policy_uuid", "name", "created", "last_updated"), "")
    record = EventMatcherPolicy(**known, execution_logging=False, **fields)  # type: ignore[arg-type]
    assert mismatches(record, EVENT) == others
    assert mismatches(record, {}) == [name for name, value in asked.items() if value]


@pytest.mark.parametrize(
    "made", ["x", None, ["a"], {"a b": "c"}, {"a": "b\r\nc: d"}, {"content-length": "3"}, {"é": "x"}, dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "x")]
)  # fmt: skip
def test_what_is_no_header_is_not_sent(made: Any) -> None:
    with pytest.raises(CannotBeSent):
        read_headers(made)


def test_names_in_events_call_nobody() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    body = slack_body(EventMessage(id="x", rule="r", severity="alert", body="<!channel> & @all\nx", created=at), "Kith")
    assert body["attachments"][0]["title"] == "&lt;!channel&gt; &amp; @all"
    assert not {"@", "#"} & set(harmless("@eve #tag"))
