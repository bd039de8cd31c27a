"""Web Push: subscriptions, and what reaches the devices that subscribed."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mastodon import Mastodon
from sqlalchemy import and_, bindparam, delete, func, select, update

from kith.base.db import Command, Instant, command, query
from kith.base.jobs.tables import Job, jobs
from kith.base.limits import Limiter
from kith.identity.providers.oauth2.tables import apps
from kith.identity.tokens import service as tokens
from kith.identity.users.tables import users as people
from kith.social.ids import AccountId
from kith.social.notifications.facts import NotificationMade
from kith.social.notifications.tables import notifications
from kith.social.push import store
from kith.social.push.sending import KEPT
from kith.social.push.slots import PER_ACCOUNT
from kith.social.push.tables import subscriptions
from kith.social.push.tasks import LATEST, MESSAGES, MOST_LOOKS, PAUSES, PushDelivery, plan, wait_for_room
from tests.conftest import SharedTowns, TownBuilder
from tests.social.members import SCOPES, Member, join, join_all, set_state, until
from tests.social.posts import does, notices, post, settle
from tests.social.push_service import PATH, Service, encoded, open_service, self_signed
from tests.social.shapes import PUSH_SUBSCRIPTION, check
from tests.social.tokens import new_app
from tests.town import Town, build_town
from tests.town.town import Engine

_count = query(
    select(func.count()).select_from(subscriptions).where(subscriptions.c.account_id == bindparam("me")), int
)
_waiting = query(select(jobs).where(jobs.c.kind == "push.deliver").order_by(jobs.c.id), Job)
_due = command(update(jobs).where(jobs.c.kind == "push.deliver").values(run_at=bindparam("at", type_=Instant())))
_due_first = command(
    update(jobs)
    .where(and_(jobs.c.kind == "push.deliver", jobs.c.payload.like('%"tries":0%')))
    .values(run_at=bindparam("at", type_=Instant()))
)
_forget = command(delete(jobs).where(jobs.c.kind == "push.deliver"))
_move = command(update(subscriptions).where(subscriptions.c.id == bindparam("one")).values(endpoint=bindparam("to")))
_one = notifications.c.id == bindparam("one")
_age = command(update(notifications).where(_one).values(created_at=bindparam("at", type_=Instant())))
_filter = command(update(notifications).where(_one).values(filtered=True))
_user_id = query(select(people.c.id).where(people.c.username == bindparam("name")), int)


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One that may send to this machine."""
    folder = tmp_path_factory.mktemp("push")
    async with build_town(engine, folder, private_hosts="127.0.0.1", contact_email="team@example.org") as built:
        yield built


@pytest.fixture(autouse=True)
async def nothing_waits(town: Town) -> AsyncIterator[None]:
    """What one test has put off is not for the next one to see."""
    yield
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_forget)


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with open_service() as opened:
        yield opened


async def kept(member: Member) -> int:
    """How many subscriptions there are, by what is committed."""
    async with member.town.house() as house, house.works.begin() as work:
        return await work.db.one(_count, me=int(member.id)) or 0


async def waiting(town: Town) -> list[tuple[PushDelivery, timedelta]]:
    """What is to be sent later, and after how long."""
    async with town.house() as house, house.works.begin() as work:
        found = await work.db.all(_waiting)
    return [(msgspec.json.decode(job.payload, type=PushDelivery), job.run_at - job.created_at) for job in found]


async def make_due(town: Town, which: Command = _due) -> None:
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(which, at=work.now)
    await settle(town)


async def all_sent(town: Town) -> None:
    """Until everything was sent once; on a busy machine some finds no room at first, and is put off."""
    await settle(town)
    while any(delivery.tries == 0 for delivery, _ in await waiting(town)):
        await make_due(town, _due_first)


async def by_another_app(member: Member, scopes: str = SCOPES) -> Member:
    """The same person."""
    app = await new_app(member.town, scopes)
    sent = {"client_id": app.client_id, "client_secret": app.secret, "grant_type": "password", "scope": scopes}
    named = {"username": member.name, "password": f"correct horse {member.name}"}
    answer = await member.town.http.post("/oauth/token", data=sent | named)
    other = Member(member.town, answer.json()["access_token"])
    other.me = member.me
    return other


async def other_tokens(member: Member, count: int) -> list[Member]:
    """The same person, with tokens of their own making."""
    found = []
    async with member.town.house() as house, house.works.begin() as work:
        id = await work.db.one(_user_id, name=member.name)
        assert id is not None
        for _ in range(count):
            _, key = await tokens.create(work, id, scopes=SCOPES)
            found.append(Member(member.town, key))
            found[-1].me = member.me
    return found


# Subscriptions


async def test_a_subscription_is_made_seen_changed_and_ended(town: Town, service: Service) -> None:
    ada, device = await join(town), service.device()
    for method in ("GET", "PUT"):
        answer = await ada.call(method, PATH)
        assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})

    alerts = {"mention": True, "favourite": False, "admin.sign_up": True, "nothing": True}
    made = await device.subscribe(ada, alerts=alerts, policy="followed")
    check(made, PUSH_SUBSCRIPTION)
    key = (await town.http.get("/api/v2/instance")).json()["configuration"]["vapid"]["public_key"]
    assert made == {
        "id": made["id"],
        "endpoint": device.endpoint,
        "standard": True,
        "server_key": key,
        "policy": "followed",
        "alerts": {"mention": True, "favourite": False, "admin.sign_up": True},
    }
    assert (await ada.get("/api/v1/apps/verify_credentials"))["vapid_key"] == key
    assert await ada.get(PATH) == made

    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"data": {"alerts": {"poll": "1", "mention": None}}}, {"alerts": {"poll": True}}),
        ({"policy": "none"}, {"policy": "none"}),
        ({"data": {"policy": "follower"}}, {"policy": "follower"}),
        ({"data": {"policy": "all"}, "policy": "none"}, {"policy": "all"}),
        ({"data": {"alerts": {}}}, {"alerts": {}}),
        ({}, {}),
    ]
    for sent, changed in changes:
        made |= changed
        assert await ada.does("PUT", PATH, json=sent) == made
        assert await ada.get(PATH) == made

    for _ in range(2):
        assert await ada.delete(PATH) == {}
    assert (await ada.call("GET", PATH)).status_code == 404


async def test_forms_say_the_same(town: Town, service: Service) -> None:
    ada, device = await join(town), service.device()
    sent = device.subscription
    form = {
        "subscription[endpoint]": sent["endpoint"],
        "subscription[keys][p256dh]": sent["keys"]["p256dh"] + "=",
        "subscription[keys][auth]": sent["keys"]["auth"] + "==",
        "data[alerts][admin.report]": "true",
        "data[alerts][mention]": "0",
        "data[policy]": "follower",
    }
    for options in ({"data": form}, {"params": form}, {"files": {name: (None, value) for name, value in form.items()}}):
        made = await ada.post(PATH, **options)
        assert (made["standard"], made["policy"]) == (False, "follower")
        assert made["alerts"] == {"admin.report": True, "mention": False}
    changed = await ada.does("PUT", PATH, data={"data[alerts][poll]": "true", "policy": "all"})
    assert (changed["alerts"], changed["policy"]) == ({"poll": True}, "all")


async def test_without_a_word_on_alerts_all_are_on_but_follow_requests(town: Town, service: Service) -> None:
    made = await service.device().subscribe(await join(town))
    assert made["policy"] == "all"
    assert {type for type, wanted in made["alerts"].items() if not wanted} == {"follow_request"}
    assert {"mention", "status", "admin.report", "quote", "moderation_warning"} <= set(made["alerts"])


async def test_each_token_has_one_at_most(town: Town, service: Service) -> None:
    ada = await join(town)
    phone = await by_another_app(ada)
    first, second = service.device(), service.device()
    old = await first.subscribe(ada)
    own = await service.device().subscribe(phone)
    new = await second.subscribe(ada)
    assert len({old["id"], own["id"], new["id"]}) >= 2
    assert (await ada.get(PATH))["endpoint"] == second.endpoint
    assert await phone.get(PATH) == own
    await asyncio.gather(*(second.subscribe(ada) for _ in range(10)))
    assert await kept(ada) == 2


async def test_the_scope_is_needed(town: Town, service: Service) -> None:
    ada = await by_another_app(await join(town), "read write follow")
    for method in ("GET", "POST", "PUT", "DELETE"):
        answer = await ada.call(method, PATH, json={"subscription": service.device().subscription})
        assert (answer.status_code, answer.json()["error"]) == (403, "This action is outside the authorized scopes")
    assert (await town.http.get(PATH)).status_code == 401
    app = await new_app(town, "read push")
    headers = {"Authorization": f"Bearer {await app.token('push')}"}
    assert (await town.http.get(PATH, headers=headers)).status_code == 422


POINT_OFF_CURVE = encoded(b"\x04" + bytes(63) + b"\x01")
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no endpoint": ({"endpoint": ""}, "Endpoint is not a valid URL"),
    "not a URL": ({"endpoint": "push me"}, "Endpoint is not a valid URL"),
    "another scheme": ({"endpoint": "ftp://push.example/x"}, "Endpoint is not a valid URL"),
    "with a password": ({"endpoint": "https://a:b@push.example/x"}, "Endpoint is not a valid URL"),
    "plain http": ({"endpoint": "http://203.0.114.1/x"}, "Endpoint must begin with https://"),
    "plain http by a name": ({"endpoint": "http://localhost/x"}, "Endpoint must begin with https://"),
    "too long": (
        {"endpoint": "https://push.example/" + "x" * 2048},
        "Endpoint is too long (maximum is 2048 characters)",
    ),
    "private": ({"endpoint": "https://10.0.0.1/x"}, "Endpoint is not at a public address"),
    "link-local": ({"endpoint": "https://169.254.169.254/latest"}, "Endpoint is not at a public address"),
    "private in IPv6": ({"endpoint": "https://[fd00::1]/x"}, "Endpoint is not at a public address"),
    "mapped": ({"endpoint": "https://[::ffff:10.0.0.1]/x"}, "Endpoint is not at a public address"),
    "odd port": ({"endpoint": "https://203.0.114.1:22/x"}, "Endpoint is not at a public address"),
    "no key": ({"p256dh": ""}, "P256dh is not a public key on the curve P-256"),
    "not base64": ({"p256dh": "!" * 87}, "P256dh is not a public key on the curve P-256"),
    "a long key": ({"p256dh": "A" * 5000}, "P256dh is not a public key on the curve P-256"),
    "no point": ({"p256dh": POINT_OFF_CURVE}, "P256dh is not a public key on the curve P-256"),
    "short secret": ({"auth": encoded(bytes(15))}, "Auth is not a secret of 16 bytes"),
    "long secret": ({"auth": encoded(bytes(17))}, "Auth is not a secret of 16 bytes"),
    "two things": ({"auth": "", "endpoint": "x"}, "Endpoint is not a valid URL, Auth is not a secret of 16 bytes"),
}


async def test_what_cannot_be_used_is_refused_and_changes_nothing(town: Town, service: Service) -> None:
    ada, device = await join(town), service.device()
    before = await device.subscribe(ada)
    for case, (differing, words) in BAD.items():
        plain = device.subscription
        keys = {name: differing.get(name, value) for name, value in plain["keys"].items()}
        sent = {"subscription": {"endpoint": differing.get("endpoint", plain["endpoint"]), "keys": keys}}
        answer = await ada.call("POST", PATH, json=sent)
        assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {words}"), case
    shapes: list[dict[str, Any]] = [
        {"subscription": "x"},
        {"subscription": {"endpoint": "https://a.example"}},
        {"subscription": {"keys": device.subscription["keys"]}},
        {"subscription": device.subscription, "data": {"policy": "some"}},
        {"subscription": device.subscription, "policy": "some"},
        {"subscription": device.subscription, "data": {"alerts": {"mention": "perhaps"}}},
        {"subscription": device.subscription, "data": {"alerts": ["mention"]}},
    ]
    for sent in shapes:
        answer = await ada.call("POST", PATH, json=sent)
        assert (answer.status_code, answer.json()["error"][:18]) == (422, "Validation failed:"), sent
        if "subscription" in sent and len(sent) > 1:
            answer = await ada.call("PUT", PATH, json={name: sent[name] for name in sent if name != "subscription"})
            assert (answer.status_code, answer.json()["error"][:18]) == (422, "Validation failed:"), sent
    answer = await ada.call("POST", PATH, json={"data": {"policy": "all"}})
    words = "param is missing or the value is empty or invalid: subscription"
    assert (answer.status_code, answer.json()["error"]) == (400, words)
    assert await ada.get(PATH) == before


async def test_private_addresses_are_refused(shared_towns: SharedTowns, engine: Engine) -> None:
    """Where the operator has not listed them, by number or by name, with or without encryption."""
    ada, device = await join(await shared_towns.get(engine)), Service().device()
    for host in ("127.0.0.1", "localhost", "[::1]", "10.1.2.3", "192.168.1.1:8443", "0.0.0.0"):
        for scheme, words in (("http", "must begin with https://"), ("https", "is not at a public address")):
            sent = {"subscription": device.subscription | {"endpoint": f"{scheme}://{host}/x"}}
            answer = await ada.call("POST", PATH, json=sent)
            assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: Endpoint {words}"), host
    assert await kept(ada) == 0


async def test_a_person_has_so_many_at_most(town: Town, service: Service) -> None:
    ada = await join(town)
    [first, *others] = await other_tokens(ada, 4)
    made = [await service.device().subscribe(one) for one in (first, *others)]
    async with town.house() as house, house.works.begin() as work:
        await store.remove_oldest(work.db, int(ada.id), keep=3)
    assert (await first.call("GET", PATH)).status_code == 404
    assert [await one.get(PATH) for one in others] == made[1:]


# Messages


async def test_a_message_is_encrypted_signed_and_says_what_apps_read(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    made = await device.subscribe(ada)
    await bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "Bob <b>", "note": "I am & Bob"})
    mention = await post(bob, f"@{ada.name} " + "long & <words> " * 30)
    warned = await post(bob, f"@{ada.name} the whole story", spoiler_text="careful")
    await bob.to(ada, "follow")
    await all_sent(town)

    told = {text["notification_id"]: text for text in device.texts()}
    shown = {int(one["id"]): one for one in await ada.get("/api/v1/notifications")}
    assert set(told) == set(shown)
    assert len(told) == len(device.received) == 3
    for id, text in told.items():
        assert set(text) == {
            "access_token",
            "preferred_locale",
            "notification_id",
            "notification_type",
            "icon",
            "title",
            "body",
        }
        assert (text["access_token"], text["preferred_locale"]) == (ada.token, "en")
        assert text["notification_type"] == shown[id]["type"]
        assert text["icon"] == shown[id]["account"]["avatar_static"]
        about = shown[id].get("status", {}).get("id")
        title, body = {
            mention["id"]: ("Bob <b> mentioned you", f"@{ada.name} long & <words> "),
            warned["id"]: ("Bob <b> mentioned you", "careful"),
            None: ("Bob <b> followed you", "I am & Bob"),
        }[about]
        assert text["title"] == title
        assert text["body"].startswith(body)
        assert len(text["body"]) <= 140
        assert text["body"].endswith("…") == (about == mention["id"])

    for one in device.received:
        headers = one.headers
        assert len(one.body) <= 4096
        assert (headers["ttl"], headers["urgency"]) == ("172800", "normal")
        assert headers["content-type"] == "application/octet-stream"
        assert headers["content-encoding"] == "aes128gcm"
        said, public = device.sender(one)
        assert public == made["server_key"]
        assert said["sub"] == "mailto:team@example.org"
        assert said["aud"] == service.origin
        assert 23 * 3600 < said["exp"] - time.time() <= 24 * 3600
    assert len({one.headers["authorization"] for one in device.received}) == 1, "signed anew for each message"


def _set(alerts: dict[str, bool | None]) -> dict[str, bool]:
    return {name: value for name, value in alerts.items() if value is not None}


async def test_an_older_app_with_another_library_reads_its_messages(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    app = Mastodon(api_base_url=town.base_url, access_token=ada.token, version_check_mode="none")
    private, public = app.push_subscription_generate_keys()
    made = await asyncio.to_thread(
        app.push_subscription_set, device.endpoint, public, mention_events=True, favourite_events=False, policy="all"
    )
    assert (made.standard, made.policy, _set(made.alerts)) == (False, "all", {"mention": True, "favourite": False})
    own = await post(ada)
    await does(bob, "favourite", own)
    await post(bob, f"@{ada.name} hello")
    await all_sent(town)

    [one] = device.received
    said, key = device.sender(one)
    assert (key, said["aud"]) == (made.server_key, service.origin)
    text = app.push_subscription_decrypt_push(one.body, private, one.headers["encryption"], one.headers["crypto-key"])
    assert (text.title, text.body) == (f"{bob.name} mentioned you", f"@{ada.name} hello")
    assert text.access_token == ada.token
    assert _set((await asyncio.to_thread(app.push_subscription_update, poll_events=True)).alerts) == {"poll": True}
    await asyncio.to_thread(app.push_subscription_delete)
    assert await kept(ada) == 0


async def test_titles_are_in_the_readers_language(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    async with town.house() as house, house.works.begin() as work:
        id = await work.db.one(_user_id, name=ada.name)
        assert id is not None
        await work.db.run(
            command(
                update(people)
                .where(people.c.id == id)
                .values(attributes=bindparam("to", type_=people.c.attributes.type))
            ),
            to={"settings": {"locale": "de"}},
        )
    await device.subscribe(ada)
    await post(bob, f"@{ada.name} hallo")
    await all_sent(town)
    [text] = device.texts()
    assert (text["preferred_locale"], text["title"]) == ("de", f"{bob.name} hat dich erwähnt")


async def test_only_wanted_types_are_sent(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    chosen, usual = service.device(), service.device()
    await chosen.subscribe(ada, alerts={"favourite": True, "follow_request": True})
    [phone] = await other_tokens(ada, 1)
    await usual.subscribe(phone)
    own = await post(ada)
    await ada.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    await does(bob, "favourite", own)
    await does(bob, "reblog", own)
    await bob.to(ada, "follow")
    await all_sent(town)
    assert len(await notices(ada)) == 3
    assert sorted(one["notification_type"] for one in chosen.texts()) == ["favourite", "follow_request"]
    assert sorted(one["notification_type"] for one in usual.texts()) == ["favourite", "reblog"]


async def test_the_policy_says_from_whom(town: Town, service: Service) -> None:
    ada, followed, follower, stranger = await join_all(town, 4)
    await ada.to(followed, "follow")
    await follower.to(ada, "follow")
    await all_sent(town)
    devices = {policy: service.device() for policy in ("all", "followed", "follower", "none")}
    for token, (policy, device) in zip(await other_tokens(ada, 4), devices.items(), strict=True):
        await device.subscribe(token, policy=policy)
    for one in (followed, follower, stranger):
        await post(one, f"@{ada.name} from {one.name}")
    await all_sent(town)
    reached = {policy: sorted(text["body"].split()[-1] for text in one.texts()) for policy, one in devices.items()}
    assert reached == {
        "all": sorted(one.name for one in (followed, follower, stranger)),
        "followed": [followed.name],
        "follower": [follower.name],
        "none": [],
    }


async def test_what_a_filter_hides_is_not_sent(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    await device.subscribe(ada)
    for number, context in enumerate((["notifications"], ["home"])):
        words = [{"keyword": f"secret{number}"}]
        sent = {"title": "x", "context": context, "filter_action": "hide", "keywords_attributes": words}
        await ada.post("/api/v2/filters", json=sent)
    for text in ("secret0", "secret1", "plain"):
        await post(bob, f"@{ada.name} {text}")
    await does(bob, "favourite", await post(ada, "my own secret0"))
    await all_sent(town)
    assert sorted(text["body"].split()[-1] for text in device.texts()) == ["plain", "secret0", "secret1"]
    assert [text["notification_type"] for text in device.texts() if "secret0" in text["body"]] == ["favourite"]


async def test_what_is_taken_back_filtered_or_old_is_not_sent(town: Town, service: Service) -> None:
    """Each comes between the first try of a message, which fails, and the second."""
    ada, bob, cat, eve = await join_all(town, 4)
    usual, changed = service.device(), service.device()
    [phone] = await other_tokens(ada, 1)
    await usual.subscribe(ada)
    await changed.subscribe(phone, alerts={"favourite": True, "poll": True})
    usual.answers, changed.answers = [(503, {})] * 7, [(503, {})]
    mentions = {how: await post(bob, f"@{ada.name} {how}") for how in ("old", "filtered", "deleted", "dismissed")}
    await post(cat, f"@{ada.name} muted")
    await post(eve, f"@{ada.name} stays")
    own = await post(ada)
    await does(eve, "favourite", own)
    await all_sent(town)
    assert (len(usual.received), len(changed.received), len(await waiting(town))) == (7, 1, 8)

    told = {(one.get("status") or {}).get("id"): int(one["id"]) for one in await ada.get("/api/v1/notifications")}
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_age, one=told[mentions["old"]["id"]], at=work.now - KEPT)
        await work.db.run(_filter, one=told[mentions["filtered"]["id"]])
    await bob.delete(f"/api/v1/statuses/{mentions['deleted']['id']}")
    await ada.post(f"/api/v1/notifications/{told[mentions['dismissed']['id']]}/dismiss")
    await ada.to(cat, "mute")
    await phone.does("PUT", PATH, json={"data": {"alerts": {"poll": True}}})
    await all_sent(town)
    usual.received.clear()
    await make_due(town)
    assert await waiting(town) == []
    assert sorted(text["body"].split()[-1] for text in usual.texts()) == ["Hello", "stays"]
    assert len(changed.received) == 1


async def test_push_services_are_called_with_encryption(
    new_town: TownBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose certificate is believed, and one whose is not."""
    believed, authority = self_signed(tmp_path, "believed")
    other, _ = self_signed(tmp_path, "other")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    async with open_service(tls=believed) as known, open_service(tls=other) as unknown:
        town = await new_town(private_hosts="127.0.0.1")
        ada, bob = await join_all(town, 2)
        devices = [known.device(), unknown.device()]
        for token, device in zip(await other_tokens(ada, 2), devices, strict=True):
            await device.subscribe(token)
        await post(bob, f"@{ada.name} hello")
        await all_sent(town)
        [(again, _)] = await waiting(town)
    [text] = devices[0].texts()
    assert (text["body"], devices[0].origin[:8]) == (f"@{ada.name} hello", "https://")
    assert devices[0].sender(devices[0].received[0])[0]["sub"] == town.base_url, "nobody to write to is named"
    assert (devices[1].received, again.tries) == ([], 1)


# What push services answer


async def test_a_no_ends_the_subscription(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    devices = {status: service.device() for status in (200, 201, 202, 400, 401, 403, 404, 410, 413)}
    for token, (status, device) in zip(await other_tokens(ada, len(devices)), devices.items(), strict=True):
        device.answers = [(status, {"Retry-After": "1"})]
        await device.subscribe(token)
    for _ in range(2):
        await post(bob, f"@{ada.name}")
        await all_sent(town)
        assert await waiting(town) == []
    assert {status: len(one.received) for status, one in devices.items()} == {
        status: 2 if status < 400 else 1 for status in devices
    }
    assert await kept(ada) == 3


async def test_a_no_to_an_old_address_does_not_end_the_new_one(town: Town, service: Service) -> None:
    """An app puts another in its place while a message is on its way."""
    ada, bob = await join_all(town, 2)
    old, new = service.device(), service.device()
    old.held, old.answers = asyncio.Event(), [(410, {})]
    await old.subscribe(ada)

    async def is_reached() -> bool:
        return bool(old.received)

    await post(bob, f"@{ada.name} one")
    await until(is_reached)
    await new.subscribe(ada)
    old.held.set()
    await all_sent(town)
    assert (await ada.get(PATH))["endpoint"] == new.endpoint
    await post(bob, f"@{ada.name} two")
    await all_sent(town)
    assert [len(old.received), *(text["body"].split()[-1] for text in new.texts())] == [1, "two"]


async def test_whatever_may_pass_is_tried_again_with_growing_pauses(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    await device.subscribe(ada)
    device.answers = [
        (408, {}),
        (429, {"Retry-After": "3600"}),
        (500, {"Retry-After": "never"}),
        (503, {"Retry-After": "99999999"}),
        (302, {"Location": "http://127.0.0.1:1/"}),
        (503, {}),
    ]
    await post(bob, f"@{ada.name} at last")
    await all_sent(town)
    pauses = []
    for tries in range(1, 6):
        [(delivery, pause)] = await waiting(town)
        assert (delivery.tries, len(device.received)) == (tries, tries)
        pauses.append(pause.total_seconds())
        await make_due(town)
    assert pauses[1] == pytest.approx(3600, abs=60)  # asked for
    assert pauses[3] == pytest.approx(6 * 3600, abs=60)  # asked for, but not longer than that
    for number in (0, 2, 4):
        assert PAUSES[number].total_seconds() <= pauses[number] <= PAUSES[number].total_seconds() * 1.25 + 60
    assert (len(device.received), await waiting(town), await kept(ada)) == (6, [], 1)
    assert len({text["notification_id"] for text in device.texts()}) == 1
    assert "push.given_up" in town.log()


async def test_a_service_that_cannot_be_reached_is_tried_again(town: Town) -> None:
    async with open_service() as service:
        device = service.device()
    ada, bob = await join_all(town, 2)
    await device.subscribe(ada)
    await post(bob, f"@{ada.name}")
    await all_sent(town)
    [(delivery, _)] = await waiting(town)
    assert delivery.tries == 1
    await ada.delete(PATH)
    await make_due(town)
    assert await waiting(town) == []


async def test_an_answer_without_end_is_not_read(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    device.is_endless = True
    await device.subscribe(ada)
    await post(bob, f"@{ada.name}")
    await all_sent(town)
    assert (len(device.received), await waiting(town), await kept(ada)) == (1, [], 1)


async def test_a_slow_service_does_not_hold_up_another(town: Town, service: Service) -> None:
    ada, bob, eve = await join_all(town, 3)
    slow, quick = service.device(), service.device()
    slow.held = asyncio.Event()
    await slow.subscribe(ada)
    await quick.subscribe(eve)

    async def is_reached() -> bool:
        return bool(slow.received)

    async def others_are_reached() -> bool:
        return bool(quick.received)

    await post(bob, f"@{ada.name}")
    await until(is_reached)
    await post(bob, f"@{eve.name}")
    await until(others_are_reached)
    assert not slow.held.is_set()
    slow.held.set()
    await all_sent(town)
    assert [len(one.received) for one in (slow, quick)] == [1, 1]


async def test_what_finds_no_room_is_put_off_and_not_counted_as_a_try(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    held = asyncio.Event()
    devices = [service.device() for _ in range(PER_ACCOUNT + 2)]
    for token, device in zip(await other_tokens(ada, len(devices)), devices, strict=True):
        device.held = held
        await device.subscribe(token)

    async def are_put_off() -> bool:
        return [(one.tries, pause > timedelta(0)) for one, pause in await waiting(town) if pause] == [(0, True)] * 2

    await post(bob, f"@{ada.name}")
    await until(are_put_off)
    assert sum(len(one.received) for one in devices) == PER_ACCOUNT
    held.set()
    await all_sent(town)
    await make_due(town)
    assert [len(one.received) for one in devices] == [1] * len(devices)


async def test_what_finds_no_room_looks_ever_more_seldom_and_gives_up(town: Town) -> None:
    async with town.house() as house:
        async with house.works.begin() as work:
            for looks in range(MOST_LOOKS + 1):
                wait_for_room(work, PushDelivery(1, 1, looks=looks))
        pauses = [pause for _, pause in await waiting(town)]
    assert len(pauses) == MOST_LOOKS
    assert pauses[0] < LATEST <= min(pauses[-3:])


async def test_one_person_is_sent_so_much_at_most(town: Town, service: Service) -> None:
    """Whatever their friends do, and on however many devices they want to hear of it."""
    ada, bob, eve = await join_all(town, 3)
    devices = [service.device(), service.device()]
    for one, device in zip((ada, eve), devices, strict=True):
        await device.subscribe(one)
        await post(bob, f"@{one.name}")
    await all_sent(town)
    async with town.house() as house:
        limiter = house.works.services[Limiter] = Limiter(house.works.database)
        limiter.spend(MESSAGES, ada.id, MESSAGES.most)
        for one in (ada, eve):
            [notice] = await one.get("/api/v1/notifications")
            async with house.works.begin() as work:
                await plan(work, NotificationMade(int(notice["id"]), AccountId(int(one.id)), "mention"))
    await all_sent(town)
    assert [len(device.received) for device in devices] == [1, 2]


async def test_nothing_is_sent_to_private_addresses(town: Town, service: Service) -> None:
    """As when a name that was public leads inwards later."""
    ada, bob = await join_all(town, 2)
    device, port, moved = service.device(), service.origin.rpartition(":")[2], set()
    places = (
        "https://10.0.0.1",
        f"http://localhost:{port}",
        "https://169.254.169.254",
        f"https://[fd00::1]:{port}",
    )
    for token, place in zip(await other_tokens(ada, 4), places, strict=True):
        made = await device.subscribe(token)
        moved.add(made["id"])
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(_move, one=made["id"], to=f"{place}/{device.path}")
    await post(bob, f"@{ada.name}")
    await all_sent(town)
    assert (device.received, await waiting(town), await kept(ada)) == ([], [], 4)
    lines = [json.loads(line) for line in town.log().splitlines() if '"push.refused"' in line]
    assert moved <= {line["subscription"] for line in lines}


# Endings


async def test_a_revoked_token_takes_its_subscription_along(town: Town, service: Service) -> None:
    person = await town.sign_up()
    app = await new_app(town, SCOPES)
    ada = Member(town, await app.token_of(person, SCOPES))
    await ada.refreshed()
    await service.device().subscribe(ada)
    sent = {"client_id": app.client_id, "client_secret": app.secret, "token": ada.token}
    assert (await town.http.post("/oauth/revoke", data=sent)).status_code == 200
    assert await kept(ada) == 0


async def test_a_personal_token_takes_its_subscription_along(town: Town, service: Service) -> None:
    ada = await join(town)
    key = (await town.kith("tokens", "create", ada.name, "--scopes", "read push")).strip()
    own, device = Member(town, key), service.device()
    await device.subscribe(own)
    bob = await join(town)
    await post(bob, f"@{ada.name}")
    await all_sent(town)
    assert [text["access_token"] for text in device.texts()] == [key]
    owner = await town.owner()
    async with town.house() as house, house.works.begin() as work:
        id = await work.db.one(_user_id, name=ada.name)
    [one] = (await owner.get("/api/v2/core/tokens/", params={"user": id, "intent": "api"})).json()["results"]
    assert (await owner.call("DELETE", f"/api/v2/core/tokens/{one['pk']}/")).status_code == 204
    assert await kept(ada) == 0


@pytest.mark.parametrize("ending", ["disabled", "deleted", "app deleted"])
async def test_whoever_is_shut_out_hears_nothing_more(town: Town, service: Service, ending: str) -> None:
    ada, bob = await by_another_app(await join(town)), await join(town)
    device = service.device()
    await device.subscribe(ada)
    device.answers = [(503, {})]
    await post(bob, f"@{ada.name}")
    await all_sent(town)
    owner = await town.owner()
    async with town.house() as house, house.works.begin() as work:
        id = await work.db.one(_user_id, name=ada.name)
    app_id = int((await ada.get("/api/v1/apps/verify_credentials"))["id"])
    if ending == "disabled":
        answer = await owner.call("PATCH", f"/api/v2/core/users/{id}/", json={"is_active": False})
        assert answer.status_code == 200, answer.text
    elif ending == "deleted":
        answer = await owner.call("DELETE", f"/api/v2/core/users/{id}/")
        assert answer.status_code == 204, answer.text
    else:
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(command(delete(apps).where(apps.c.id == app_id)))
    assert await kept(ada) == (1 if ending == "disabled" else 0)
    await make_due(town)
    await post(bob, f"@{ada.name} again")
    await all_sent(town)
    assert len(device.received) == 1

    if ending == "disabled":
        answer = await owner.call("PATCH", f"/api/v2/core/users/{id}/", json={"is_active": True})
        assert answer.status_code == 200, answer.text
        await post(bob, f"@{ada.name} and now")
        await all_sent(town)
        assert (await kept(ada), len(device.received)) == (1, 2)


async def test_a_suspended_account_hears_nothing(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    await device.subscribe(ada)
    device.answers = [(503, {})]
    await post(bob, f"@{ada.name}")
    await all_sent(town)
    await set_state(town, ada.id, lambda work: {"suspended_at": work.now})
    await make_due(town)
    assert (len(device.received), await waiting(town)) == (1, [])


async def test_a_push_service_can_end_a_subscription_by_its_address(town: Town, service: Service) -> None:
    ada, bob = await join_all(town, 2)
    device = service.device()
    await device.subscribe(ada)
    await post(bob, f"@{ada.name}")
    await all_sent(town)
    address = device.received[0].headers["unsubscribe-url"]
    assert address.startswith(f"{town.base_url}/api/web/push_subscriptions/")
    start, _, link = address.rpartition("/")
    number, until_, seal = link.split("-")
    forged = [
        "x",
        f"{int(number) + 1}-{until_}-{seal}",
        f"{number}-{int(until_) + 1}-{seal}",
        f"{number}-{until_}-{'0' * 64}",
        f"9999999999-{until_}-{seal}",
        f"{number}-1-{seal}",
        uuid.uuid4().hex,
    ]
    for wrong in forged:
        assert (await town.http.delete(f"{start}/{wrong}")).status_code == 404, wrong
    assert await kept(ada) == 1
    answer = await town.http.delete(address)
    assert (answer.status_code, answer.json()) == (200, {})
    assert await kept(ada) == 0
    # A new one is not ended by the address of the old one, even where it got the same number.
    await device.subscribe(ada)
    assert (await town.http.delete(address)).status_code == 404
    assert await kept(ada) == 1


async def test_secrets_are_sealed_at_rest(town: Town, service: Service) -> None:
    ada, device = await join(town), service.device()
    await device.subscribe(ada)
    async with town.house() as house, house.works.begin() as work:
        rows = await work.db.all(query(select(subscriptions), tuple))
    everything = repr(rows)
    assert ada.token not in everything
    assert encoded(device.auth) not in everything
