"""Policies: their collections, what each kind decides, and how decisions add up on a target."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from sqlalchemy import bindparam, update

from kith.app import House
from kith.base.db import Instant, command, insert_into
from kith.base.work import Work
from kith.identity.audit import store as audit
from kith.identity.audit.tables import Event
from kith.identity.expressions import subjects
from kith.identity.policies.engine import Mode, evaluate_target
from kith.identity.policies.kinds import breachcheck
from kith.identity.policies.reputation_scores import change as change_score
from kith.identity.policies.reputation_scores import delete_expired as delete_scores
from kith.identity.policies.reputation_scores import score_of, scores
from kith.identity.policies.request import CannotTell, PolicyRequest, PolicyVerdict
from kith.identity.users import store as users
from kith.identity.users.tables import users as users_table
from tests.conftest import TownBuilder
from tests.town import Person, Town, build_town

API = "/api/v2"
AT_ONCE = {"wait_min": 0, "wait_max": 0}


def unique(word: str) -> str:
    return f"{word}-{uuid.uuid4().hex[:8]}"


async def make(person: Person, path: str, **values: Any) -> dict[str, Any]:
    answer = await person.call("POST", f"{API}{path}", json=values)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def refused(person: Person, path: str, **values: Any) -> dict[str, Any]:
    answer = await person.call("POST", f"{API}{path}", json=values)
    assert answer.status_code == 400, answer.text
    complaints: dict[str, Any] = answer.json()
    return complaints


async def id_of(town: Town, person: Person) -> int:
    async with town.house() as house, house.works.begin() as work:
        found = await users.find(work.db, person.username)
    assert found is not None
    return found.id


async def tried(town: Town, person: Person, policy: dict[str, Any], **context: Any) -> dict[str, Any]:
    """What the test endpoint says of the person themselves."""
    body = {"user": await id_of(town, person), "context": context}
    answer = await person.call("POST", f"{API}/policies/all/{policy['pk']}/test/", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


# The collections


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("breachcheck", {"allowed_count": 3}),
        ("dummy", {"result": True, "wait_min": 1, "wait_max": 2}),
        ("expression", {"expression": "return True"}),
        ("group_membership", {}),
        ("password", {"error_message": "Too weak.", "length_min": 8}),
        ("passwordexpiry", {"days": 90}),
        ("reputation", {"threshold": -3}),
    ],
)
async def test_every_kind_is_made_read_and_found_among_all(town: Town, kind: str, values: dict[str, Any]) -> None:
    ada = await town.owner()
    name = unique(kind)

    made = await make(ada, f"/policies/{kind}/", name=name, **values)

    assert made["pk"] == made["policy_uuid"]
    assert values.items() <= made.items()
    assert (await ada.get(f"{API}/policies/{kind}/{made['pk']}/")).json() == made
    one = (await ada.get(f"{API}/policies/all/{made['pk']}/")).json()
    assert (one["name"], one["__type__"], one["bound_to"]) == (name, kind, 0)
    found = (await ada.get(f"{API}/policies/all/", params={"name": name, "bindings__isnull": "true"})).json()
    assert [policy["pk"] for policy in found["results"]] == [made["pk"]]
    for bound, count in (("true", 1), ("false", 0)):
        asked = {"name": name, "promptstage__isnull": bound}
        assert (await ada.get(f"{API}/policies/all/", params=asked)).json()["count"] == count
    assert (await ada.call("DELETE", f"{API}/policies/{kind}/{made['pk']}/")).status_code == 204


async def test_a_policy_that_checks_the_answers_of_a_form_is_in_use(town: Town) -> None:
    ada = await town.owner()
    policy = await make(ada, "/policies/dummy/")
    prompt = await make(
        ada, "/stages/prompt/prompts/", field_key="age", label="Age", type="number", placeholder="1", order=1
    )
    body = {"name": unique("form"), "fields": [prompt["pk"]], "validation_policies": [policy["pk"]]}
    await make(ada, "/stages/prompt/stages/", **body)

    asked = {"name": policy["name"], "promptstage__isnull": "false"}
    [found] = (await ada.get(f"{API}/policies/all/", params=asked)).json()["results"]

    assert (found["pk"], found["bound_to"]) == (policy["pk"], 1)


async def test_a_policy_without_a_name_gets_one_and_names_are_unique(town: Town) -> None:
    ada = await town.owner()

    first = await make(ada, "/policies/dummy/")
    second = await make(ada, "/policies/dummy/", name=None)

    assert first["name"]
    assert first["name"] != second["name"]
    assert await refused(ada, "/policies/dummy/", name=first["name"]) == {"name": ["This field must be unique."]}


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        ("breachcheck", {"allowed_count": -1}, "allowed_count"),
        ("breachcheck", {"password_field": ""}, "password_field"),
        ("dummy", {"wait_min": 3, "wait_max": 2}, "wait_max"),
        ("expression", {}, "expression"),
        ("expression", {"expression": "return ("}, "expression"),
        ("group_membership", {"group": "00000000-0000-4000-8000-000000000000"}, "group"),
        ("password", {}, "error_message"),
        ("password", {"error_message": "x", "length_min": 1001}, "length_min"),
        ("password", {"error_message": "x", "amount_symbols": -1}, "amount_symbols"),
        ("password", {"error_message": "x", "symbol_charset": ""}, "symbol_charset"),
        ("passwordexpiry", {}, "days"),
        ("passwordexpiry", {"days": -1}, "days"),
        ("reputation", {"check_ip": False, "check_username": False}, "non_field_errors"),
    ],
)
async def test_what_makes_no_sense_is_refused_by_field(
    town: Town, kind: str, values: dict[str, Any], field: str
) -> None:
    ada = await town.owner()

    assert list(await refused(ada, f"/policies/{kind}/", name=unique(kind), **values)) == [field]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("ldap", {"object_field": "email"}),
        ("saml", {"saml_name": "urn:oid:0.9.2342.19200300.100.1.3", "friendly_name": None}),
        ("scope", {"scope_name": "email", "description": "Your address"}),
    ],
)
async def test_a_mapping_is_checked_when_saved_and_found_among_all(
    town: Town, kind: str, values: dict[str, Any]
) -> None:
    ada = await town.owner()
    path = f"/propertymappings/{kind}/"

    made = await make(ada, path, name=unique(kind), expression="return user.email", **values)
    complaints = await refused(ada, path, name="x", expression="x = 1\nreturn )", **values)

    assert values.items() <= made.items()
    assert (await ada.get(f"{API}/propertymappings/all/{made['pk']}/")).json()["__type__"] == kind
    assert complaints["expression"][0].startswith("Expression Syntax Error: line 2, column 8: ")


# One policy alone


async def test_the_dummy_answers_at_once_in_a_test(town: Town) -> None:
    ada = await town.owner()
    policy = await make(ada, "/policies/dummy/", result=True, wait_min=100, wait_max=200)

    told = await tried(town, ada, policy)

    assert (told["passing"], told["messages"]) == (True, ["dummy"])


@pytest.mark.parametrize(
    ("expression", "passing", "messages"),
    [
        ("return request.user.username.startswith('person')", True, []),
        ("message('no entry')\nreturn False", False, ["no entry"]),
        ("return context['age'] > 17 and request.context['age'] == 18", True, []),
        ("return ak_client_ip in ip_network('127.0.0.0/8')", True, []),
        ("return http_request.method == 'POST'", True, []),
        ("return request.user.is_superuser and not ak_is_sso_flow", True, []),
        ("pass", False, []),
        ("x = 1\nreturn nobody", False, ["line 2: NameError: name 'nobody' is not defined"]),
        ("while True: pass", False, ["The expression took too long."]),
    ],
)
async def test_an_expression_decides(town: Town, expression: str, passing: bool, messages: list[str]) -> None:
    ada = await town.owner()
    policy = await make(ada, "/policies/expression/", expression=expression)

    told = await tried(town, ada, policy, age=18)

    assert (told["passing"], told["messages"]) == (passing, messages)


async def test_an_expression_asks_for_people_policies_and_names(town: Town) -> None:
    ada, bob = await town.owner(), await town.sign_up()
    other = await make(ada, "/policies/expression/", expression="message('inner')\nreturn context['age'] == 3")
    table = {
        f"return user_by(username='{bob.username.upper()}').email == '{bob.username}@example.org'": True,
        f"return ak_user_by(email='{bob.username}@example.org', is_active=True).username == '{bob.username}'": True,
        f"return user_by(username='{bob.username}', is_active=False) is None": True,
        "return user_by(pk=user.pk).uuid == user.uuid and pb_user_by(uuid=user.uuid).pk == user.pk": True,
        "return user_by(username='nobody') is None and user_by(pk=-1) is None and user_by(pk=10**30) is None": True,
        "return user_by(name='x')": ["line 1: ValueError: people are found by pk, uuid, username or email"],
        "return user_has_authenticator(user) or user_has_authenticator(user, 'totp')": False,
        f"return call_policy('{other['name']}', age=3).passing": True,
        f"return call_policy('{other['name']}').messages == ['inner']": True,
        f"return ak_call_policy('{other['name']}', age=4).passing": False,
        "return call_policy('no such')": ["line 1: ValueError: there is no policy 'no such'"],
        "return resolve_dns('127.0.0.1', 4) == ['127.0.0.1'] and resolve_dns('a b') == []": True,
        "return reverse_dns('not an address') == 'not an address'": True,
        "create_event('Door-Opened', age=3)\nreturn True": True,
        "create_event('no good name!')": [
            "line 1: ValueError: an event is named by up to 50 letters, digits and underscores"
        ],
    }

    told = {}
    for expression in table:
        policy = await make(ada, "/policies/expression/", expression=expression)
        answer = await tried(town, ada, policy, age=18)
        told[expression] = answer["messages"] or answer["passing"]

    assert told == table


async def test_policies_that_wait_for_each_other_all_come_to_an_end(town: Town) -> None:
    ada = await town.owner()
    inner = await make(ada, "/policies/expression/", expression="return True")
    outer = await make(ada, "/policies/expression/", expression=f"return call_policy('{inner['name']}').passing")
    name = unique("endless")
    endless = await make(ada, "/policies/expression/", name=name, expression=f"return call_policy('{name}').passing")

    told = await asyncio.gather(
        *(tried(town, ada, outer) for _ in range(12)), *(tried(town, ada, endless) for _ in range(4))
    )

    assert [one["passing"] for one in told] == [True] * 12 + [False] * 4


STRICT = {"amount_uppercase": 1, "amount_lowercase": 1, "amount_symbols": 1, "length_min": 8}


@pytest.mark.parametrize(
    ("rules", "password", "passing"),
    [
        (STRICT, "Abcdef1!", True),
        (STRICT, "1!efgHij", True),
        (STRICT, "abcdefg!", False),
        (STRICT, "Ab!", False),
        (STRICT, "ÄÖÜ-abcd", False),
        (STRICT, "A b c d e", True),
        (STRICT | {"amount_digits": 2}, "Abcdef1!", False),
        (STRICT | {"symbol_charset": "^-]"}, "Abcdefg]", True),
        (STRICT | {"symbol_charset": "a-z"}, "Abcdefg!", False),
        (STRICT | {"check_static_rules": False}, "x", True),
        ({}, "x", True),
        ({}, "", False),
        ({}, None, False),
    ],
)
async def test_a_password_is_counted_as_a_whole(
    town: Town, rules: dict[str, Any], password: str | None, passing: bool
) -> None:
    ada = await town.owner()
    policy = await make(ada, "/policies/password/", error_message="Too weak.", **rules)

    told = await tried(town, ada, policy, prompt_data={} if password is None else {"password": password})

    words = "Password not set in context" if password is None else "Too weak."
    assert (told["passing"], told["messages"]) == (passing, [] if passing else [words])


async def test_an_unreachable_list_of_breaches_is_a_no(new_town: TownBuilder) -> None:
    town = await new_town(breach_url="http://127.0.0.1:9/range/")
    ada = await town.owner()
    policy = await make(ada, "/policies/breachcheck/", allowed_count=1000)

    told = await tried(town, ada, policy, password="password")

    assert told["passing"] is False
    assert told["messages"] == ["The list of breached passwords could not be reached."]


@asynccontextmanager
async def list_of_breaches(counts: dict[str, int]) -> AsyncIterator[tuple[str, list[web.Request]]]:
    """A stand-in that knows these passwords, and pads like the real one."""
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        hashes = {hashlib.sha1(word.encode()).hexdigest().upper(): count for word, count in counts.items()}
        rows = [
            f"{digest[5:]}:{count}" for digest, count in hashes.items() if digest[:5] == request.match_info["prefix"]
        ]
        return web.Response(text="\r\n".join([*rows, "0" * 35 + ":0"]))

    app = web.Application()
    app.router.add_get("/range/{prefix}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("/range/")), asked


async def test_only_the_start_of_a_hash_leaves_the_house(new_town: TownBuilder) -> None:
    async with list_of_breaches({"password": 4, "three": 3, "padded": 0}) as (url, asked):
        town = await new_town(breach_url=url, private_hosts="127.0.0.1")
        ada = await town.owner()
        breaches = await make(ada, "/policies/breachcheck/", allowed_count=3)
        both = await make(ada, "/policies/password/", error_message="x", check_have_i_been_pwned=True)

        bad = await tried(town, ada, breaches, password="password")
        fine = [await tried(town, ada, breaches, password=word) for word in ("three", "padded", "unknown")]
        also_bad = await tried(town, ada, both, password="three")

    assert bad["messages"] == ["Password exists on 4 online lists."]
    assert [told["passing"] for told in (bad, *fine)] == [False, True, True, True]
    assert also_bad["messages"] == ["Password exists on 3 online lists."]
    assert asked[0].path == "/range/5BAA6"
    assert {request.headers["Add-Padding"] for request in asked} == {"true"}


BREACHED = {"password": 9_659_365, "three": 3, "four": 4, "padded": 0, **{f"word {n}": n + 1 for n in range(3_000)}}


def keep_breaches(place: Path, form: str) -> Path:
    """The list as it is published, in one of the forms in which people have it."""
    rows = sorted((hashlib.sha1(word.encode()).hexdigest().upper(), count) for word, count in BREACHED.items())
    end = "\r\n" if "crlf" in form else "\n"
    if "folder" not in form:
        text = end.join(f"{digest}:{count}" for digest, count in rows)
        place.write_bytes((text.lower() if "lower" in form else text + end).encode())
        return place
    place.mkdir()
    for prefix in {"00000", "5BAA6", "FFFFF", *(digest[:5] for digest, _ in rows)}:
        found = [f"{digest[5:]}:{count}" for digest, count in rows if digest[:5] == prefix]
        (place / (f"{prefix}.txt" if "txt" in form else prefix)).write_text(end.join(found))
    return place


async def judged(house: House, password: str) -> PolicyVerdict:
    async with house.works.begin() as work:
        request = PolicyRequest(context={"password": password})
        policy = breachcheck.BreachCheckPolicy(
            pk="",
            policy_uuid="",
            name="leaks",
            execution_logging=False,
            created=work.now,
            last_updated=work.now,
            allowed_count=3,
            password_field="password",
        )
        return await breachcheck.passes(work, policy, request)


@pytest.mark.parametrize("form", ["file", "file crlf", "file lower", "folder", "folder txt crlf"])
async def test_breaches_are_looked_up_in_a_list_of_our_own(tmp_path: Path, form: str) -> None:
    async with build_town("sqlite", tmp_path / "town", start=False) as town:
        town.change(breach_file=str(keep_breaches(tmp_path / "breaches", form)), breach_url="")
        said = await town.kith("check")
        async with town.house() as house:
            told = {word: await judged(house, word) for word in ("password", "four", "three", "padded", "word 2999")}
            strangers = [await judged(house, f"stranger {n}") for n in range(200 if form == "file" else 0)]

    assert "breached passwords are looked up in" in said
    assert {word: verdict.messages for word, verdict in told.items()} == {
        "password": ["Password exists on 9659365 online lists."],
        "four": ["Password exists on 4 online lists."],
        "three": [],
        "padded": [],
        "word 2999": ["Password exists on 3000 online lists."],
    }
    assert all(verdict.passing for verdict in strangers)


UNREACHABLE = "The list of breached passwords could not be reached."


async def test_what_counts_when_no_list_can_be_reached_is_for_the_operator_to_say(tmp_path: Path) -> None:
    (bad := tmp_path / "bad.txt").write_text("not a list of hashes\n" * 100)
    outcomes: list[tuple[bool | None, list[str], list[str]]] = []
    async with (
        build_town("sqlite", tmp_path / "town", start=False) as town,
        list_of_breaches({"password": 4}) as (url, _),
    ):
        for unreachable in ("refuse", "allow", ""):
            town.change(breach_file=str(bad), breach_url="", breach_unreachable=unreachable)
            async with town.house() as house:
                try:
                    verdict = await judged(house, "password")
                    outcomes.append((verdict.passing, verdict.messages, verdict.log))
                except CannotTell as error:
                    outcomes.append((None, [str(error)], []))
        said = await town.kith("check", expect=1)
        town.change(breach_file=str(bad), breach_url=url, private_hosts="127.0.0.1")
        async with town.house() as house:
            outside = await judged(house, "password")

    assert outcomes == [(False, [UNREACHABLE], []), (True, [], [UNREACHABLE]), (None, [UNREACHABLE], [])]
    assert "a line is not of the form SHA1:COUNT" in said
    assert outside.messages == ["Password exists on 4 online lists."]


_change_date = command(
    update(users_table)
    .where(users_table.c.id == bindparam("user"))
    .values(password_changed_at=bindparam("at", type_=Instant()))
)


@pytest.mark.parametrize(
    ("age", "deny_only", "messages"),
    [
        (timedelta(days=89, hours=23), False, []),
        (timedelta(days=90), True, ["Password has expired."]),
        (timedelta(days=90), False, ["Password expired 0 days ago. Please update your password."]),
        (timedelta(days=92, hours=1), False, ["Password expired 2 days ago. Please update your password."]),
    ],
)
async def test_an_old_password_is_refused_and_a_test_leaves_it_alone(
    town: Town, age: timedelta, deny_only: bool, messages: list[str]
) -> None:
    ada = await town.owner()
    policy = await make(ada, "/policies/passwordexpiry/", days=90, deny_only=deny_only)
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_change_date, user=await id_of(town, ada), at=work.now - age)

    told = await tried(town, ada, policy)

    assert (told["passing"], told["messages"]) == (not messages, messages)
    assert (await ada.get(f"{API}/core/users/")).status_code == 200


@pytest.mark.parametrize(
    ("threshold", "score", "passing"),
    [(-5, None, False), (-5, -4, False), (-5, -5, True), (-5, -6, True), (0, None, True), (0, 1, False)],
)
async def test_reputation_passes_for_bad_callers(town: Town, threshold: int, score: int | None, passing: bool) -> None:
    ada = await town.owner()
    policy = await make(ada, "/policies/reputation/", check_ip=False, threshold=threshold)
    if score is not None:
        async with town.house() as house, house.works.begin() as work:
            row = {"reputation_uuid": str(uuid.uuid4()), "identifier": ada.username, "ip": "192.0.2.1", "score": score}
            await work.db.run(command(insert_into(scores)), **row, created_at=work.now, updated_at=work.now)

    assert (await tried(town, ada, policy))["passing"] is passing
    listed = (await ada.get(f"{API}/policies/reputation/scores/", params={"identifier": ada.username})).json()
    assert [row["score"] for row in listed["results"]] == ([] if score is None else [score])


async def test_a_score_has_bounds_and_is_forgotten_after_a_day(town: Town) -> None:
    name, ip = unique("caller"), f"2001:db8::{uuid.uuid4().hex[:4]}"
    found = []
    async with town.house() as house, house.works.begin() as work:
        begun = work.now
        for hours, by in ((0, -7), (1, -1), (2, 2), (25, 0), (50, 1), (50, 20), (75, 0)):
            work.now = begun + timedelta(hours=hours)
            if by:
                await change_score(work, identifier=name, ip=ip, by=by)
            found.append(await score_of(work, identifier=name))
        work.now = begun + timedelta(hours=50)
        await change_score(work, identifier="another", ip=ip, by=-2)
        by_ip, by_both = await score_of(work, ip=ip), await score_of(work, identifier=name, ip=ip)
        nobody = await score_of(work)
        work.now = begun + timedelta(hours=75)
        await delete_scores(work)
        work.now = begun + timedelta(hours=51)
        left = await score_of(work, ip=ip)

    assert found == [-5, -5, -3, -3, 1, 5, 0]
    assert (by_ip, by_both, nobody) == (3, 3, 0)
    assert left == 0


async def test_a_group_counts_its_members_and_those_of_the_groups_below(town: Town) -> None:
    ada = await town.owner()
    above = await make(ada, "/core/groups/", name=unique("above"))
    below = await make(
        ada, "/core/groups/", name=unique("below"), parent=above["pk"], user_set=[await id_of(town, ada)]
    )
    other = await make(ada, "/core/groups/", name=unique("other"))
    made = [await make(ada, "/policies/group_membership/", group=group["pk"]) for group in (above, below, other)]
    empty = await make(ada, "/policies/group_membership/")

    told = [(await tried(town, ada, policy))["passing"] for policy in made]

    assert told == [True, True, False]
    assert (await tried(town, ada, empty))["messages"] == ["This policy has no group."]


async def test_a_test_tells_what_is_wrong_with_the_question(town: Town) -> None:
    ada, bob = await town.owner(), await town.sign_up()
    policy = await make(ada, "/policies/dummy/", **AT_ONCE)
    path = f"{API}/policies/all/{policy['pk']}/test/"

    async def ask(body: Any, at: str = path, by: Person = ada) -> tuple[int, Any]:
        answer = await by.call("POST", at, json=body)
        return answer.status_code, answer.json()

    assert await ask({}) == (400, {"user": ["This field is required."]})
    assert await ask({"user": 2**30}) == (400, {"user": [f'Invalid pk "{2**30}" - object does not exist.']})
    assert (await ask({"user": await id_of(town, ada), "context": []}))[0] == 400
    assert (await ask({"user": 1}, f"{API}/policies/all/{uuid.uuid4()}/test/"))[0] == 404
    assert (await ask({"user": 1}, f"{API}/policies/all/x/test/"))[0] == 404
    assert (await ask({"user": 1}, by=bob))[0] == 403


async def test_a_mapping_is_tried_out(town: Town) -> None:
    ada = await town.owner()

    async def result(expression: str, **body: Any) -> dict[str, Any]:
        values = {"object_field": "email", "expression": expression}
        mapping = await make(ada, "/propertymappings/ldap/", name=unique("mapping"), **values)
        answer = await ada.call("POST", f"{API}/propertymappings/all/{mapping['pk']}/test/", json=body)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    mine = {"user": await id_of(town, ada)}
    assert await result("return user.username", **mine) == {"result": f'"{ada.username}"', "successful": True}
    assert await result("return ldap['mail'][0]", context={"ldap": {"mail": ["a@b.example"]}}) == {
        "result": '"a@b.example"',
        "successful": True,
    }
    assert await result("return user") == {"result": "null", "successful": True}
    assert (await result("return 1 / 0"))["successful"] is False


# All that is bound to a target


class Target:
    def __init__(self, town: Town, owner: Person, pbm_uuid: str) -> None:
        self._town, self._owner, self._pbm_uuid = town, owner, pbm_uuid
        self._order = 0

    async def bind(self, **values: Any) -> dict[str, Any]:
        self._order += 1
        return await make(self._owner, "/policies/bindings/", target=self._pbm_uuid, order=self._order, **values)

    async def bind_dummy(self, result: bool, **values: Any) -> dict[str, Any]:
        policy = await make(self._owner, "/policies/dummy/", result=result, **AT_ONCE)
        return await self.bind(policy=policy["pk"], **values)

    async def bind_expression(self, expression: str, *, logging: bool = False, **values: Any) -> str:
        body = {"expression": expression, "execution_logging": logging}
        policy = await make(self._owner, "/policies/expression/", **body)
        await self.bind(policy=policy["pk"], **values)
        return str(policy["pk"])

    async def verdict(self, mode: Mode = "all") -> PolicyVerdict:
        async with self._town.house() as house, house.works.begin() as work:
            return await evaluate_target(work, self._pbm_uuid, await self._request(work), mode)

    async def _request(self, work: Work) -> PolicyRequest:
        found = await users.find(work.db, self._owner.username)
        assert found is not None
        return PolicyRequest(person=await subjects.get(work, found.id), client_ip="192.0.2.7", context={"secret": "s3"})

    async def events(self, policy_uuid: str) -> list[Event]:
        async with self._town.house() as house, house.works.begin() as work:
            newest = await audit.newest(work.db, 200)
        return [event for event in newest if event.context.get("policy_uuid") == policy_uuid]


@pytest.fixture
async def target(town: Town) -> Target:
    owner = await town.owner()
    slug = unique("flow")
    flow = await make(owner, "/flows/instances/", name=slug, slug=slug, designation="authentication")
    return Target(town, owner, flow["pbm_uuid"])


async def test_where_nothing_is_bound_everybody_passes(target: Target) -> None:
    assert (await target.verdict("all")).passing
    assert (await target.verdict("any")).passing


async def test_turning_the_last_binding_off_does_not_open_the_door(target: Target) -> None:
    await target.bind_dummy(False, enabled=False)

    assert not (await target.verdict("all")).passing
    assert not (await target.verdict("any")).passing
    await target.bind_dummy(True)
    assert (await target.verdict("all")).passing  # of several, those that are turned off do not count


async def test_any_and_all_add_up_and_every_message_is_kept(target: Target) -> None:
    await target.bind_dummy(True)
    await target.bind_dummy(False)
    await target.bind_expression("message('third')\nreturn True")

    some, every = await target.verdict("any"), await target.verdict("all")

    assert (some.passing, every.passing) == (True, False)
    assert every.messages == ["dummy", "dummy", "third"]


async def test_negate_turns_the_outcome_and_keeps_the_message(target: Target) -> None:
    await target.bind_expression("message('no')\nreturn False", negate=True)

    verdict = await target.verdict()

    assert (verdict.passing, verdict.messages) == (True, ["no"])


async def test_people_and_groups_can_be_bound(town: Town, target: Target) -> None:
    owner = target._owner
    bob = await town.sign_up()
    group = await make(owner, "/core/groups/", name=unique("group"), user_set=[await id_of(town, owner)])
    await target.bind(group=group["pk"])
    await target.bind(user=await id_of(town, owner))

    assert (await target.verdict()).passing
    await target.bind(user=await id_of(town, bob))
    assert not (await target.verdict()).passing


async def test_what_takes_too_long_counts_as_failed(target: Target) -> None:
    policy = await make(target._owner, "/policies/dummy/", result=True, wait_min=60, wait_max=60)
    await target.bind(policy=policy["pk"], timeout=0)

    verdict = await target.verdict()

    assert (verdict.passing, verdict.messages) == (False, ["Policy timed out."])


async def test_an_error_is_a_no_unless_the_binding_says_otherwise_and_is_written_down(target: Target) -> None:
    policy = await target.bind_expression("return 1 / 0", negate=True)
    words = "line 1: ZeroDivisionError: division by zero"

    refusal = await target.verdict()
    await target.bind_expression("return 1 / 0", failure_result=True)

    assert (refusal.passing, refusal.messages) == (False, [words])
    assert (await target.verdict("any")).passing
    event = (await target.events(policy))[0]
    assert (event.action, event.context["message"]) == ("policy_exception", words)
    assert event.context["request"] == {"user": event.username, "client_ip": "192.0.2.7", "context": ["secret"]}


async def test_an_expression_can_write_something_down(target: Target) -> None:
    action = unique("door").replace("-", "_")
    await target.bind_expression(f"create_event('{action}', door='north', password='open')\nreturn True")

    await target.verdict()

    async with target._town.house() as house, house.works.begin() as work:
        [event] = [one for one in await audit.newest(work.db, 200) if one.action == f"custom_{action}"]
    assert (event.username, event.app) == (target._owner.username, "expressions")
    assert event.context["door"] == "north"
    assert event.context["password"] != "open"


async def test_a_run_is_written_down_where_the_policy_asks_for_it(target: Target) -> None:
    quiet = await target.bind_expression("return True")
    told = await target.bind_expression("return True", logging=True)

    await target.verdict()

    assert await target.events(quiet) == []
    [event] = await target.events(told)
    assert (event.action, event.context["result"]["passing"]) == ("policy_execution", True)


async def test_an_expired_password_stops_working(town: Town, target: Target) -> None:
    owner = target._owner
    policy = await make(owner, "/policies/passwordexpiry/", days=0)
    await target.bind(policy=policy["pk"])

    first, second = await target.verdict(), await target.verdict()

    assert first.messages == second.messages == ["Password expired 0 days ago. Please update your password."]
    assert (await owner.get(f"{API}/core/users/")).status_code == 401
