"""Access on request: somebody asks, somebody named decides, and it ends by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Command, Instant, command
from kith.identity.access_requests.mails import words_of
from kith.identity.access_requests.tables import requests
from kith.identity.endings.tasks import END, DueEnds
from kith.identity.groups.tables import members
from tests.identity.flow_browser import Browser
from tests.identity.logout_receiver import Listener, listening
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.town import Person, Town, build_town
from tests.town.town import Engine

REQUESTS = f"{API}/core/access_requests/"


@pytest.fixture(scope="module")
async def near(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town that may call this very computer."""
    async with build_town(engine, tmp_path_factory.mktemp("near"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with listening() as made:
        yield made


@pytest.fixture
async def ada(near: Town) -> Person:
    return await owner_of(near)


@pytest.fixture(scope="module")
async def bob(near: Town) -> Person:
    return await near.sign_up()


@pytest.fixture(scope="module")
async def eve(near: Town) -> Person:
    return await near.sign_up()


async def id_of(ada: Person, person: Person) -> int:
    [found] = await results(ada, "/core/users/", username=person.username)
    return int(found["pk"])


async def offer_group(ada: Person, *approvers: Person, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A new group that can be asked for, and the offer."""
    group = await make(ada, "/core/groups/", name=new_name("crew"))
    people = [await id_of(ada, one) for one in approvers]
    return group, await make(ada, "/core/access_offers/", group=group["pk"], approvers=people, **fields)


async def ask(person: Person, offer: dict[str, Any], /, **fields: Any) -> httpx.Response:
    given = {"offer": offer["pk"], "reason": "I am on call.", "duration": "hours=8"}
    return await person.call("POST", REQUESTS, json=given | fields)


async def asked(person: Person, offer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = await ask(person, offer, **fields)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


async def act(person: Person, request: dict[str, Any], word: str, **sent: Any) -> httpx.Response:
    return await person.call("POST", f"{REQUESTS}{request['pk']}/{word}/", json=sent)


async def members_of(ada: Person, group: dict[str, Any]) -> list[int]:
    found: list[int] = (await ada.get(f"{API}/core/groups/{group['pk']}/")).json()["user_set"]
    return found


async def claims_at(party: RelyingParty, browser: Browser) -> tuple[dict[str, Any], dict[str, Any]]:
    tokens = await party.tokens(browser, scope="openid profile offline_access")
    return tokens, await party.read(tokens["id_token"])


_group_ages = command(
    update(members)
    .where(members.c.group_uuid == bindparam("wanted", type_=members.c.group_uuid.type))
    .values(expires=bindparam("past", type_=Instant()))
)
_request_closes = command(
    update(requests)
    .where(requests.c.request_uuid == bindparam("wanted", type_=requests.c.request_uuid.type))
    .values(closes=bindparam("past", type_=Instant()))
)


async def let_pass(town: Town, statement: Command, wanted: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(statement, wanted=wanted, past=work.now - timedelta(seconds=1))


_access_ends = command(
    update(requests)
    .where(requests.c.request_uuid == bindparam("wanted", type_=requests.c.request_uuid.type))
    .values(expires=bindparam("past", type_=Instant()))
)


async def look_at_ends(town: Town, ada: Person, request: dict[str, Any], state: str) -> None:
    """Have the worker look for what has ended, and wait until it has."""
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(END, DueEnds())
    async with asyncio.timeout(60):
        while (await ada.get(f"{REQUESTS}{request['pk']}/")).json()["state"] != state:
            await asyncio.sleep(0.05)


async def mail_to(town: Town, ada: Person, person: Person, words: str) -> str:
    [found] = await results(ada, "/core/users/", username=person.username)
    async with asyncio.timeout(60):
        while True:
            for mail in town.mails():
                body = mail.get_body(("plain",))
                text = " ".join(body.get_content().split()) if body is not None else ""
                if mail["To"] == found["email"] and words in text:
                    return text
            await asyncio.sleep(0.05)


async def actions_about(ada: Person, request: dict[str, Any]) -> list[str]:
    found = await results(ada, "/audit/events/", ordering="created")
    return [one["action"] for one in found if one["context"].get("model", {}).get("pk") == request["pk"]]


async def test_asked_for_approved_seen_in_the_token_over_and_told(
    near: Town, ada: Person, bob: Person, listener: Listener
) -> None:
    """The whole way through OpenID Connect, for a group that opens one application and is told to another."""
    open_one, closed = [await make_party(near, ada, logout_uri=listener.url) for _ in range(2)]
    group, offer = await offer_group(ada, bob, longest="days=2")
    await make(ada, "/policies/bindings/", group=group["pk"], target=closed.application["pk"], order=0)
    person, browser = await signed_in(near)
    refused = await closed.authorize(browser)
    assert refused.status_code == 403

    request = await asked(person, offer, duration="seconds=60")
    assert (request["state"], request["username"], request["offer_name"]) == ("open", person.username, group["name"])
    assert "I am on call." in await mail_to(near, ada, bob, f"{person.username} asks for access to {group['name']}")
    _, before = await claims_at(open_one, browser)
    assert group["name"] not in before["groups"]
    [waiting] = (await bob.get(f"{REQUESTS}to_decide/")).json()
    assert waiting["pk"] == request["pk"]

    approved = await act(bob, request, "approve", answer="Until Monday.")
    assert approved.status_code == 200, approved.text
    assert (approved.json()["state"], approved.json()["answer"]) == ("approved", "Until Monday.")
    assert datetime.fromisoformat(approved.json()["expires"]) - datetime.fromisoformat(
        approved.json()["decided"]
    ) == timedelta(seconds=60)
    assert "Until Monday." in await mail_to(near, ada, person, f"You have access to {group['name']} until")
    assert (await bob.get(f"{REQUESTS}to_decide/")).json() == []

    tokens, there = await claims_at(open_one, browser)
    others, elsewhere = await claims_at(closed, browser)
    assert group["name"] in there["groups"]
    assert group["name"] in elsewhere["groups"]

    [listed] = (await ada.get(f"{API}/core/groups/{group['pk']}/members/")).json()["results"]
    assert listed["expires"] == approved.json()["expires"]
    await make_end_soon(ada, group, listed["user"])
    heard = {await audience(listener), await audience(listener)}
    assert heard == {open_one.id, closed.id}

    assert (await open_one.userinfo(tokens["access_token"])).status_code == 401
    assert (await closed.refresh(others["refresh_token"])).status_code == 403
    assert (await closed.authorize(browser)).status_code == 403
    _, after = await claims_at(open_one, browser)
    assert group["name"] not in after["groups"]
    assert await members_of(ada, group) == []


async def make_end_soon(ada: Person, group: dict[str, Any], user: int) -> None:
    soon = (datetime.now().astimezone() + timedelta(seconds=1)).isoformat()
    answer = await ada.call("POST", f"{API}/core/groups/{group['pk']}/add_user/", json={"pk": user, "expires": soon})
    assert answer.status_code == 204, answer.text


async def audience(listener: Listener) -> str:

    told: dict[str, Any] = jwt.decode(await listener.next(), options={"verify_signature": False})
    return str(told["aud"])


async def test_an_application_is_asked_for_and_closes_again(near: Town, ada: Person, bob: Person) -> None:
    party = await make_party(near, ada)
    application = party.application["pk"]
    person, browser = await signed_in(near)
    approvers = [await id_of(ada, bob)]

    async def offered(**fields: Any) -> httpx.Response:
        sent = {"application": application, "approvers": approvers} | fields
        return await ada.call("POST", f"{API}/core/access_offers/", json=sent)

    assert "policy_engine_mode must be any" in (await offered()).json()["application"][0]
    await ada.call("PATCH", f"{API}/core/applications/{application}/", json={"policy_engine_mode": "any"})
    assert "Bind a group, a person or a policy first" in (await offered()).json()["application"][0]
    await make(ada, "/policies/bindings/", user=await id_of(ada, ada), target=application, order=0)
    offer = (await offered(longest="hours=2")).json()
    refused = await party.authorize(browser)
    assert refused.status_code == 403
    assert "You can ask for access in your settings" in refused.text

    [listed] = [one for one in (await person.get(f"{REQUESTS}offers/")).json() if one["offer"] == offer["pk"]]
    assert (listed["kind"], listed["name"], listed["is_open"]) == ("application", party.application["name"], False)
    assert (await ask(person, offer)).json() == {"duration": ["Access is given for at most hours=2."]}
    assert (await ask(ada, offer, duration="hours=1")).json() == {"offer": ["You have access already."]}
    request = await asked(person, offer, duration="hours=2")
    answer = await act(bob, request, "approve", duration="hours=1")
    assert answer.status_code == 200, answer.text
    assert "code" in dict(httpx.URL((await party.authorize(browser)).headers["location"]).params)

    again = await asked(person, offer, duration="hours=2")  # for longer than they have
    assert (await act(bob, again, "approve")).status_code == 200
    own = [one for one in await results(ada, "/policies/bindings/", target=application) if one["user"] is not None]
    assert len(own) == 2
    assert {one["expires"] for one in own} == {
        None,
        (await ada.get(f"{REQUESTS}{again['pk']}/")).json()["expires"],
    }
    assert (await act(person, again, "end")).json()["state"] == "ended"
    assert (await party.authorize(browser)).status_code == 403
    assert (await party.authorize(await _browser_of(near, bob))).status_code == 403
    assert (await act(person, again, "end")).status_code == 409


async def _browser_of(town: Town, person: Person) -> Browser:
    return (await signed_in(town, person))[1]


async def test_only_those_who_are_named_decide_and_never_about_themselves(
    near: Town, ada: Person, bob: Person, eve: Person
) -> None:
    team = await make(ada, "/core/groups/", name=new_name("team"))
    below = await make(ada, "/core/groups/", name=new_name("team"), parent=team["pk"])
    group, offer = await offer_group(ada, bob, approver_groups=[team["pk"]])
    request = await asked(eve, offer)

    for person, status in ((ada, 404), (eve, 403), (await near.sign_up(), 404)):
        for word in ("approve", "refuse"):
            assert (await act(person, request, word)).status_code == status
    assert (await act(ada, request, "withdraw")).status_code == 404
    assert (await bob.get(f"{REQUESTS}{request['pk']}/")).status_code == 404
    assert (await act(bob, {"pk": "x"}, "approve")).status_code == 404
    own = await asked(bob, offer)
    assert (await act(bob, own, "approve")).json()["detail"] == "You cannot decide about your own request."
    assert await members_of(ada, group) == []

    member = await near.sign_up()
    member_id = await id_of(ada, member)
    joined = f"{API}/core/groups/{below['pk']}/"
    assert (await act(member, request, "approve")).status_code == 404
    await ada.call("PATCH", joined, json={"user_set": [member_id]})
    assert {one["pk"] for one in (await member.get(f"{REQUESTS}to_decide/")).json()} == {request["pk"], own["pk"]}
    await ada.call("PATCH", joined, json={"user_set": []})
    assert (await act(member, request, "approve")).status_code == 404  # they have lost the right meanwhile
    assert (await member.get(f"{REQUESTS}to_decide/")).json() == []

    answer = await act(bob, request, "refuse", answer="Not now.")
    assert (answer.json()["state"], answer.json()["expires"]) == ("refused", None)
    assert "Not now." in await mail_to(near, ada, eve, "was refused")
    assert await members_of(ada, group) == []
    assert await actions_about(ada, request) == ["model_created", "access_request_refused"]
    assert (await act(bob, request, "approve")).status_code == 409


async def test_of_two_who_decide_at_once_one_does(near: Town, ada: Person, bob: Person) -> None:
    others = [bob, await near.sign_up(), await near.sign_up()]
    group, offer = await offer_group(ada, *others)
    person = await near.sign_up()
    for _ in range(3):
        request = await asked(person, offer)
        words = ["approve", "refuse", "approve"]
        answers = await asyncio.gather(
            *(act(one, request, word) for one, word in zip(others, words, strict=True)),
            act(person, request, "withdraw"),
        )
        assert sorted(one.status_code for one in answers) == [200, 409, 409, 409]
        state = (await person.get(f"{REQUESTS}{request['pk']}/")).json()["state"]
        assert (await id_of(ada, person) in await members_of(ada, group)) == (state == "approved")
        actions = await actions_about(ada, request)
        assert actions == ["model_created", f"access_request_{state}"]
        if state == "approved":
            assert (await act(person, request, "end")).status_code == 200


async def test_nobody_gets_what_is_not_offered_or_is_disabled_meanwhile(near: Town, ada: Person, bob: Person) -> None:
    group, offer = await offer_group(ada, bob)
    person, other = await near.sign_up(), await near.sign_up()
    request, second = await asked(person, offer), await asked(other, offer)
    await ada.call("PATCH", f"{API}/core/access_offers/{offer['pk']}/", json={"requestable": False})
    assert (await act(bob, request, "approve")).json()["detail"] == "This cannot be requested any more."
    assert (await ask(await near.sign_up(), offer)).json() == {"offer": ["This cannot be requested at the moment."]}
    await ada.call(
        "PATCH", f"{API}/core/access_offers/{offer['pk']}/", json={"requestable": True, "longest": "hours=1"}
    )

    answer = await act(bob, second, "approve")  # the longest time was shortened meanwhile
    assert datetime.fromisoformat(answer.json()["expires"]) - datetime.fromisoformat(
        answer.json()["decided"]
    ) == timedelta(hours=1)

    user = await id_of(ada, person)
    await ada.call("PATCH", f"{API}/core/users/{user}/", json={"is_active": False})
    assert (await act(bob, request, "approve")).status_code == 409
    assert (await ada.get(f"{REQUESTS}{request['pk']}/")).json()["state"] == "expired"
    assert await members_of(ada, group) == [await id_of(ada, other)]


async def test_requests_expire_are_withdrawn_and_are_counted(near: Town, ada: Person, bob: Person) -> None:
    offers = [(await offer_group(ada, bob))[1] for _ in range(11)]
    person = await near.sign_up()
    made = [await asked(person, offer) for offer in offers[:10]]
    assert (await ask(person, offers[10])).json() == {
        "offer": ["You have too many requests that have not been decided yet."]
    }
    assert (await act(person, made[0], "withdraw")).json()["state"] == "withdrawn"
    assert (await act(bob, made[0], "approve")).status_code == 409
    answers = await asyncio.gather(*(ask(person, offers[10]) for _ in range(3)))
    assert sorted(one.status_code for one in answers) == [201, 400, 400]

    await let_pass(near, _request_closes, made[1]["pk"])
    assert (await act(bob, made[1], "approve")).json()["detail"] == "This request is not open any more."
    assert made[1]["pk"] not in {one["pk"] for one in (await bob.get(f"{REQUESTS}to_decide/")).json()}
    await asked(person, offers[1])  # who was not answered may ask again

    await look_at_ends(near, ada, made[1], "expired")
    assert await actions_about(ada, made[1]) == ["model_created", "access_request_expired"]
    await mail_to(near, ada, person, "Nobody has decided about your request")

    assert (await act(bob, made[2], "approve")).status_code == 200
    await let_pass(near, _access_ends, made[2]["pk"])
    await look_at_ends(near, ada, made[2], "ended")
    assert (await actions_about(ada, made[2]))[1:] == ["access_request_approved", "access_request_ended"]
    await mail_to(near, ada, person, "has ended")


async def test_what_somebody_has_for_good_stays_and_for_a_while_is_never_shortened(
    near: Town, ada: Person, bob: Person
) -> None:
    group, offer = await offer_group(ada, bob)
    person = await near.sign_up()
    user = await id_of(ada, person)
    add = f"{API}/core/groups/{group['pk']}/add_user/"
    listed = f"{API}/core/groups/{group['pk']}/members/"

    later = (datetime.now().astimezone() + timedelta(days=3)).isoformat()
    await ada.call("POST", add, json={"pk": user, "expires": later})
    [before] = (await ada.get(listed)).json()["results"]
    assert (await act(bob, await asked(person, offer), "approve")).status_code == 200
    assert (await ada.get(listed)).json()["results"] == [before]

    waiting = await asked(person, offer)
    await ada.call("POST", add, json={"pk": user})
    assert (await act(bob, waiting, "approve")).status_code == 200
    assert (await act(person, waiting, "end")).status_code == 200
    assert (await ada.get(listed)).json()["results"] == [before | {"expires": None}]
    assert (await ask(person, offer)).json() == {"offer": ["You have access already."]}

    await let_pass(near, _group_ages, group["pk"])
    assert (await ask(person, offer)).status_code == 201


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        ({"reason": ""}, "reason"),
        ({"reason": " \t"}, "reason"),
        ({"reason": "x" * 1001}, "reason"),
        ({"reason": None}, "reason"),
        ({"duration": "for ever"}, "duration"),
        ({"duration": "seconds=5"}, "duration"),
        ({"duration": "days=-3"}, "duration"),
        ({"duration": "days=999999999999"}, "duration"),
        ({"duration": "days=31"}, "duration"),
        ({"duration": "hours=1;" + "x=1;" * 100 + "hours=1"}, "duration"),
        ({"offer": "00000000-0000-0000-0000-000000000000"}, "offer"),
        ({"offer": 7}, "offer"),
    ],
)
async def test_a_bad_request_is_refused_in_words(
    near: Town, ada: Person, bob: Person, eve: Person, sent: dict[str, Any], wrong: str
) -> None:
    _, offer = await offer_group(ada, bob)
    answer = await ask(eve, offer, **sent)
    assert (answer.status_code, set(answer.json())) == (400, {wrong}), answer.text
    assert await results(eve, "/core/access_requests/", offer=offer["pk"]) == []


async def test_offers_are_made_by_those_who_could_give_it_themselves(near: Town, ada: Person, bob: Person) -> None:
    role = await make(ada, "/rbac/roles/", name=new_name("role"), permissions=["core.delete_user"])
    plain = await make(ada, "/core/groups/", name=new_name("crew"))
    more = await make(ada, "/core/groups/", name=new_name("crew"), roles=[role["pk"]])
    most = await make(ada, "/core/groups/", name=new_name("crew"), is_superuser=True)
    application = await make(ada, "/core/applications/", name=new_name("app"), slug=new_name("app"))
    rights = ("core.add_accessoffer", "core.view_accessoffer", "core.change_group")
    helper = await person_who_may(near, ada, *rights)
    approvers = [await id_of(ada, bob)]

    async def offered(**sent: Any) -> httpx.Response:
        return await helper.call("POST", f"{API}/core/access_offers/", json={"approvers": approvers} | sent)

    assert (await offered(group=plain["pk"])).status_code == 201
    for group in (more, most):
        answer = await offered(group=group["pk"])
        assert (answer.status_code, set(answer.json())) == (400, {"group"})
    assert set((await offered(application=application["pk"])).json()) == {"application"}
    wrong: list[dict[str, Any]] = [{"approvers": []}, {"longest": "days=9999"}, {"longest": "soon"}]
    for sent in wrong:
        other = await make(ada, "/core/groups/", name=new_name("crew"))
        assert (await offered(group=other["pk"], **sent)).status_code == 400
    assert (await offered(group=plain["pk"], application=application["pk"])).status_code == 400
    assert (await bob.get(f"{API}/core/access_offers/")).status_code == 403
    answer = await bob.call("POST", f"{API}/core/access_offers/", json={"group": plain["pk"], "approvers": approvers})
    assert answer.status_code == 403


def bind(target: str, kind: str, group: str) -> dict[str, Any]:
    """What `target` asks for: the group, or a policy that does."""
    return {"target": target, kind: group, "order": 0}


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("kind", ["group", "policy"])
async def test_nobody_lets_people_into_an_application_by_offering_its_group(
    near: Town, ada: Person, bob: Person, kind: str, *, above: bool
) -> None:
    name = new_name("finance")
    bound = await make(ada, "/core/groups/", name=name)
    group = await make(ada, "/core/groups/", name=new_name("below"), parent=bound["pk"]) if above else bound
    application = await make(ada, "/core/applications/", name=name, slug=name)
    decider = bound["pk"]
    if kind == "policy":
        decider = (await make(ada, "/policies/group_membership/", name=name, group=decider))["pk"]
    await make(ada, "/policies/bindings/", **bind(application["pk"], kind, decider))
    _, other = await offer_group(ada, bob)
    offer = await make(ada, "/core/access_offers/", group=group["pk"], approvers=[await id_of(ada, bob)])
    crew = await make(ada, "/core/groups/", name=new_name("crew"))
    offers, verbs = "/core/access_offers/", ("add", "change", "delete", "view")
    own = ["managed.add_blueprintinstance", *(f"core.{verb}_accessoffer" for verb in verbs)]
    fields = {"group": crew["pk"], "approvers": [await id_of(ada, bob)]}
    plain, keeper, binder = [
        await person_who_may(near, ada, *own, *more)
        for more in ([], ["core.change_group"], ["core.change_group", "policies.change_policybinding"])
    ]

    async def tried(person: Person, method: str, path: str, **sent: Any) -> tuple[int, str]:
        answer = await person.call(method, API + path, json=sent)
        return answer.status_code, answer.json().get("code", "")

    refused = (403, "permission_denied")
    assert await tried(plain, "POST", offers, **fields) == refused
    assert (await tried(keeper, "POST", offers, **fields))[0] == 201
    for person in (plain, keeper):
        hers = [await id_of(ada, person)]
        for sent in ({"approvers": hers}, {"approver_groups": [crew["pk"]]}, {"longest": "days=3000"}):
            assert await tried(person, "PATCH", f"{offers}{offer['pk']}/", **sent) == refused
        assert await tried(person, "PATCH", f"{offers}{other['pk']}/", group=group["pk"]) == refused
        content = (
            "version: 1\nentries: [{model: core.accessoffer, "
            f"identifiers: {{group: {group['pk']}}}, attrs: {{group: {group['pk']}, approvers: {hers}}}}}]"
        )
        answer = await person.call("POST", f"{API}/managed/blueprints/import/", json={"content": content})
        assert answer.status_code == 403, answer.text
        assert "may say who lets people into" in answer.text
    assert (await tried(binder, "PATCH", f"{offers}{offer['pk']}/", longest="days=2"))[0] == 200
    now = (await ada.get(f"{API}{offers}{offer['pk']}/")).json()
    assert now["approvers"] == [await id_of(ada, bob)]


async def test_a_group_is_put_below_another_by_whoever_may_change_it(near: Town, ada: Person) -> None:
    """For its members are members of that one then."""
    above = await make(ada, "/core/groups/", name=new_name("finance"))
    adds, changes = [
        await person_who_may(near, ada, *more) for more in (["core.add_group"], ["core.add_group", "core.change_group"])
    ]
    answers = [
        await person.call("POST", f"{API}/core/groups/", json={"name": new_name("mine"), "parent": above["pk"]})
        for person in (adds, changes)
    ]
    assert [one.status_code for one in answers] == [400, 201]
    assert set(answers[0].json()) == {"parent"}


@pytest.mark.parametrize(
    ("duration", "words"),
    [("days=1", "1 day"), ("hours=8", "8 hours"), ("days=2;hours=1", "2 days, 1 hour"), ("weeks=3", "3 weeks")],
)
def test_durations_in_words(duration: str, words: str) -> None:
    assert words_of(duration, "") == words


def test_durations_in_german_words() -> None:
    assert words_of("days=2;hours=1", "de-AT") == "2 Tage, 1 Stunde"


async def test_nobody_asks_without_end(engine: Engine, tmp_path: Path) -> None:
    async with build_town(engine, tmp_path / "town", rate_limits="on") as town:
        ada, eve = await town.owner(), await town.sign_up()
        _, offer = await offer_group(ada, ada)
        answers = [await ask(eve, offer) for _ in range(21)]
        assert [one.status_code for one in answers] == [201, *[400] * 19, 429]
        assert "retry-after" in answers[-1].headers
