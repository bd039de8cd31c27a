"""Flows as people walk through them, a step at a time, over the JSON protocol."""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec
import pyotp
import pytest
from sqlalchemy import select, text

from kith.base.db import command, query
from kith.base.sealing import Sealer
from kith.identity.audit.service import fingerprint
from kith.identity.executor.flow_run import PLACE
from kith.identity.flows.plan import FlowPlan, find_flow, steps_of
from kith.identity.flows.plan_context import PlanContext
from kith.identity.sessions import store as sessions
from kith.identity.sessions.service import hash_key
from kith.identity.sessions.tables import runs
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser, Key, age_guesses, errors, link_in_mail
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.identity.test_oauth_sessions import csrf_of
from tests.town import Person, Town

TOTP = "default-authenticator-totp-setup"
STATIC = "default-authenticator-static-setup"
WEBAUTHN = "default-authenticator-webauthn-setup"
RECOVERY = "default-recovery-flow"
_newest_plan = query(select(runs.c.plan).order_by(runs.c.updated_at.desc()).limit(1), str)


async def signed_in(town: Town, person: Person) -> Browser:
    browser = Browser(town)
    told = await browser.sign_in(person)
    assert told["component"] == "redirect", told
    return browser


async def set_up_totp(browser: Browser) -> pyotp.TOTP:
    """The code that proved it is of an earlier step, so that the present one is still good."""
    told = await browser.see(TOTP)
    totp = pyotp.parse_uri(told["config_url"])
    assert isinstance(totp, pyotp.TOTP)
    done = await browser.answer(TOTP, component="otptime", code=totp.at(int(time.time()) - 30))
    assert done["component"] == "redirect", done
    return totp


async def set_up_codes(browser: Browser) -> list[str]:
    codes: list[str] = (await browser.see(STATIC))["codes"]
    assert (await browser.answer(STATIC, component="otpstatic"))["component"] == "redirect"
    return codes


async def set_up_key(browser: Browser, town: Town) -> Key:
    key = Key(town)
    told = await browser.see(WEBAUTHN)
    done = await browser.answer(WEBAUTHN, component="webauthn", response=key.register(told["registration"]))
    assert done["component"] == "redirect", done
    return key


# Signing in


async def test_a_person_signs_in_a_step_at_a_time_under_a_new_session(town: Town) -> None:
    ada, browser = await town.sign_up(), Browser(town)

    asked = await browser.see(SIGN_IN, next="/settings/security")
    first_key = browser.http.cookies["kith_session"]
    named = await browser.answer(SIGN_IN, component="identification", uid_field=ada.username)
    wrong = await browser.answer(SIGN_IN, component="password", password="not it")
    done = await browser.answer(SIGN_IN, component="password", password=ada.password)

    assert asked["component"] == "identification"
    assert asked["enroll_url"] == "/flows/default-enrollment-flow/"
    assert asked["recovery_url"] == f"/flows/{RECOVERY}/"
    assert (named["component"], named["pending_user"]) == ("password", ada.username)
    assert wrong["response_errors"] == {"password": [{"string": "Invalid password", "code": "invalid"}]}
    assert (done["component"], done["to"], done["final_redirect"]) == ("redirect", "/settings/security", True)
    assert browser.http.cookies["kith_session"] != first_key
    assert await browser.who() == ada.username


async def test_of_an_address_no_more_is_kept_than_flows_read(town: Town) -> None:
    """Strangers may send any query, and a run keeps it for as long as it lasts."""
    ada, browser = await town.sign_up(), Browser(town)
    query = {f"x{number}": "y" * 500 for number in range(50)} | {"zz": "z" * 2500, "next": "/settings/security"}

    lengths = []
    for path, given in (
        (f"/api/v2/flows/executor/{SIGN_IN}/", {"query": urlencode(query)}),
        (f"/flows/{SIGN_IN}/", query),
    ):
        assert (await browser.http.get(path, params=given)).status_code == 200
        async with town.house() as house, house.works.begin() as work:
            newest = await work.db.one(_newest_plan)
            lengths.append(len(newest or ""))
    done = await browser.sign_in(ada)

    assert all(0 < length < 15_000 for length in lengths), lengths
    assert done["to"] == "/settings/security"


async def test_an_unknown_name_looks_like_any_other(town: Town) -> None:
    browser = Browser(town)
    await browser.see(SIGN_IN)

    named = await browser.answer(SIGN_IN, component="identification", uid_field="nobody-at-all")
    refused = await browser.answer(SIGN_IN, component="password", password="whatever it is")

    assert named["component"] == "password"
    assert errors(refused) == ["Invalid password"]


async def test_no_stage_is_skipped_by_answering_another(town: Town) -> None:
    ada, browser = await town.sign_up(), Browser(town)
    await browser.see(SIGN_IN)

    too_early = await browser.answer(SIGN_IN, component="userlogin", uid_field=ada.username)
    named = await browser.answer(SIGN_IN, component="identification", uid_field=ada.username)
    past = await browser.answer(SIGN_IN, component="otpvalidate", code="123456")
    again = await browser.answer(SIGN_IN, component="identification", uid_field="somebody-else")

    assert too_early["component"] == "identification"
    assert named["component"] == past["component"] == again["component"] == "password"
    assert again["pending_user"] == ada.username
    assert await browser.who() is None


async def test_a_plan_belongs_to_its_flow_and_its_session(town: Town) -> None:
    ada, browser, other = await town.sign_up(), Browser(town), Browser(town)
    await browser.name(ada)

    elsewhere = await browser.answer(RECOVERY, component="password", password=ada.password)
    stranger = await other.see(SIGN_IN)
    replayed = await other.answer(SIGN_IN, component="password", password=ada.password)

    assert elsewhere["component"] == "identification"
    assert stranger["component"] == replayed["component"] == "identification"
    assert await browser.who() is await other.who() is None


async def test_an_answer_without_the_pages_token_is_refused(town: Town) -> None:
    browser = Browser(town)
    await browser.see(SIGN_IN)

    answer = await browser.http.post(f"/api/v2/flows/executor/{SIGN_IN}/", json={"uid_field": "x"})

    assert answer.status_code == 403


async def test_nobody_is_led_to_another_server(town: Town) -> None:
    for hostile in ("//evil.example", "/\\evil.example", "https:evil.example", "https://evil.example/", "/\t/evil"):
        ada, browser = await town.sign_up(), Browser(town)
        await browser.see(SIGN_IN, next=hostile)
        await browser.answer(SIGN_IN, component="identification", uid_field=ada.username)
        done = await browser.answer(SIGN_IN, component="password", password=ada.password)

        assert done["to"] == "/", hostile


async def test_a_walk_goes_on_where_it_was_when_the_power_failed(new_town: TownBuilder) -> None:
    town = await new_town()
    ada, browser = await town.sign_up(), Browser(town)
    await browser.name(ada)

    await town.kill()
    await town.start()
    seen = await browser.see(SIGN_IN)
    done = await browser.answer(SIGN_IN, component="password", password=ada.password)

    assert (seen["component"], seen["pending_user"]) == ("password", ada.username)
    assert done["component"] == "redirect"
    assert await browser.who() == ada.username


# Authenticator apps and codes


async def test_an_authenticator_app_is_set_up_with_a_code_that_matches(town: Town) -> None:
    ada = await town.sign_up()
    browser = await signed_in(town, ada)

    told = await browser.see(TOTP)
    wrong = await browser.answer(TOTP, component="otptime", code="abcdef")
    totp = pyotp.parse_uri(told["config_url"])
    assert isinstance(totp, pyotp.TOTP)
    done = await browser.answer(TOTP, component="otptime", code=totp.now())

    assert told["qr_code"].startswith("<svg")
    assert totp.name == ada.username
    assert errors(wrong) == ["Code does not match"]
    assert wrong["config_url"] == told["config_url"]
    assert done["component"] == "redirect"


async def test_a_stranger_cannot_set_anything_up(town: Town) -> None:
    for slug in (TOTP, STATIC, WEBAUTHN):
        assert (await Browser(town).see(slug))["component"] == "access-denied"


async def test_a_code_of_the_app_is_good_for_one_sign_in(town: Town) -> None:
    ada = await town.sign_up()
    totp = await set_up_totp(await signed_in(town, ada))
    code = totp.now()
    first, second = Browser(town), Browser(town)

    asked = await first.sign_in(ada)
    wrong = await first.answer(SIGN_IN, component="otpvalidate", code="00000x")
    await age_guesses(town, ada)  # a wrong guess is followed by a pause
    done = await first.answer(SIGN_IN, component="otpvalidate", code=code)
    await second.sign_in(ada)
    reused = await second.answer(SIGN_IN, component="otpvalidate", code=code)

    assert asked["component"] == "otpvalidate"
    assert [one["device_class"] for one in asked["device_challenges"]] == ["totp"]
    assert wrong["response_errors"]["code"]
    assert done["component"] == "redirect", done
    assert await first.who() == ada.username
    assert reused["component"] == "otpvalidate"
    assert reused["response_errors"]["code"]
    assert await second.who() is None


async def test_of_many_who_send_the_same_code_at_once_one_comes_in(town: Town) -> None:
    ada = await town.sign_up()
    totp = await set_up_totp(await signed_in(town, ada))
    browsers = [Browser(town) for _ in range(5)]
    await asyncio.gather(*(browser.sign_in(ada) for browser in browsers))
    code = totp.now()

    await asyncio.gather(*(browser.post(SIGN_IN, component="otpvalidate", code=code) for browser in browsers))

    assert [await browser.who() for browser in browsers].count(ada.username) == 1


async def test_guessing_codes_becomes_slower_with_every_guess(town: Town) -> None:
    ada = await town.sign_up()
    totp = await set_up_totp(await signed_in(town, ada))
    browser = Browser(town)
    await browser.sign_in(ada)

    guesses = [await browser.answer(SIGN_IN, component="otpvalidate", code=f"{n:06}") for n in range(3)]
    right = await browser.answer(SIGN_IN, component="otpvalidate", code=totp.now())

    assert guesses[0]["response_errors"]["code"][0]["code"] == "invalid"
    assert guesses[1]["response_errors"]["code"][0]["code"] == "throttled"
    assert right["response_errors"]["code"][0]["code"] == "throttled"


async def test_each_recovery_code_opens_once(town: Town) -> None:
    ada = await town.sign_up()
    browser = await signed_in(town, ada)
    codes = await set_up_codes(browser)
    first, second = Browser(town), Browser(town)

    await first.sign_in(ada)
    done = await first.answer(SIGN_IN, component="otpvalidate", code=f" {codes[0].upper()} ")
    await second.sign_in(ada)
    reused = await second.answer(SIGN_IN, component="otpvalidate", code=codes[0])
    await age_guesses(town, ada)
    other = await second.answer(SIGN_IN, component="otpvalidate", code=codes[1])

    assert len(codes) == 6
    assert done["component"] == other["component"] == "redirect"
    assert reused["component"] == "otpvalidate"


async def test_new_codes_end_the_old_ones(town: Town) -> None:
    ada = await town.sign_up()
    browser = await signed_in(town, ada)
    old, new = await set_up_codes(browser), await set_up_codes(browser)
    other = Browser(town)

    await other.sign_in(ada)
    refused = await other.answer(SIGN_IN, component="otpvalidate", code=old[0])
    await age_guesses(town, ada)
    done = await other.answer(SIGN_IN, component="otpvalidate", code=new[0])

    assert refused["component"] == "otpvalidate"
    assert done["component"] == "redirect"


async def test_who_must_have_a_device_sets_one_up_on_the_way_in(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    setup = [await make_stage(owner, "otp_time", digits=6), await make_stage(owner, "otp_static", token_count=2)]
    validate = await make_stage(
        owner,
        "otp_validate",
        not_configured_action="configure",
        configuration_stages=[one["pk"] for one in setup],
    )
    flow = await flow_of(
        owner,
        "authentication",
        await identification(owner),
        await password(owner),
        validate,
        await make_stage(owner, "user_login"),
    )
    slug, browser = flow["slug"], Browser(town)

    await browser.see(slug)
    await browser.answer(slug, component="identification", uid_field=ada.username)
    offered = await browser.answer(slug, component="password", password=ada.password)
    skipped = await browser.answer(slug, component="otpvalidate", code="123456")
    chosen = await browser.answer(slug, component="otpvalidate", selected_stage=setup[1]["pk"])
    done = await browser.answer(slug, component="otpstatic")

    assert {one["meta_model_name"] for one in offered["configuration_stages"]} == {"otptime", "otpstatic"}
    assert skipped["component"] == "otpvalidate"
    assert len(chosen["codes"]) == 2
    assert done["component"] == "redirect"
    assert await browser.who() == ada.username


async def test_who_has_no_device_is_denied_where_the_stage_says_so(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    validate = await make_stage(owner, "otp_validate", not_configured_action="deny")
    flow = await flow_of(owner, "authentication", await identification(owner), validate)
    browser = Browser(town)

    await browser.see(flow["slug"])
    told = await browser.answer(flow["slug"], component="identification", uid_field=ada.username)

    assert told["component"] == "access-denied"
    assert told["error_message"] == "No (allowed) MFA authenticator configured."


async def test_a_second_factor_ends_the_password_alone_for_programs(town: Town) -> None:
    ada = await town.sign_up()
    browser = await signed_in(town, ada)
    before = await ada.get(f"{API}/core/users/me/")

    await set_up_codes(browser)
    after = await ada.get(f"{API}/core/users/me/")
    key = (await town.kith("tokens", "create", ada.username, "--intent", "app_password", "--scopes", "api")).strip()
    with_key = await town.http.get(f"{API}/core/users/me/", auth=(ada.username, key))

    assert before.status_code == with_key.status_code == 200
    assert after.status_code == 401
    assert after.json() == {"detail": "Invalid username/password."}


# Passkeys


async def test_a_passkey_is_the_second_factor(town: Town) -> None:
    ada = await town.sign_up()
    key = await set_up_key(await signed_in(town, ada), town)
    browser = Browser(town)

    asked = await browser.sign_in(ada)
    [device] = asked["device_challenges"]
    done = await browser.answer(SIGN_IN, component="otpvalidate", webauthn=key.sign(device["challenge"]))

    assert device["device_class"] == "webauthn"
    assert len(device["challenge"]["allowCredentials"]) == 1
    assert done["component"] == "redirect", done
    assert await browser.who() == ada.username


async def test_what_proves_nothing_is_refused(town: Town) -> None:
    ada, eve = await town.sign_up(), await town.sign_up()
    key = await set_up_key(await signed_in(town, ada), town)
    foreign = await set_up_key(await signed_in(town, eve), town)
    browser = Browser(town)

    async def tried(asked: dict[str, Any], signed: dict[str, Any]) -> dict[str, Any]:
        told = await browser.answer(SIGN_IN, component="otpvalidate", webauthn=signed)
        assert told["component"] == "otpvalidate"
        assert told["response_errors"]["webauthn"], told
        challenge: dict[str, Any] = told["device_challenges"][0]["challenge"]
        assert challenge["challenge"] != asked["challenge"]
        return challenge

    first = (await browser.sign_in(ada))["device_challenges"][0]["challenge"]
    key.origin = "https://evil.example"
    second = await tried(first, key.sign(first))
    key.origin = town.base_url
    third = await tried(second, key.sign(first))  # what was asked before
    key.host, host = "evil.example", key.host
    fourth = await tried(third, key.sign(third))
    key.host = host
    fifth = await tried(fourth, foreign.sign(fourth))
    assert await browser.who() is None
    done = await browser.answer(SIGN_IN, component="otpvalidate", webauthn=key.sign(fifth))
    assert done["component"] == "redirect"

    copied = Browser(town)
    asked = (await copied.sign_in(ada))["device_challenges"][0]["challenge"]
    told = await copied.answer(SIGN_IN, component="otpvalidate", webauthn=key.sign(asked, counts=False))
    assert told["response_errors"]["webauthn"]
    assert await copied.who() is None


async def test_a_passkey_alone_opens_the_door_when_it_has_verified_its_owner(town: Town) -> None:
    ada = await town.sign_up()
    key = await set_up_key(await signed_in(town, ada), town)
    browser = Browser(town)

    asked = await browser.see(SIGN_IN)
    careless = key.sign(asked["passkey_challenge"], verified=False)
    refused = await browser.answer(SIGN_IN, component="identification", passkey=careless)
    proof = key.sign(refused["passkey_challenge"])
    done = await browser.answer(SIGN_IN, component="identification", passkey=proof)
    other = Browser(town)
    await other.see(SIGN_IN)
    replayed = await other.answer(SIGN_IN, component="identification", passkey=proof)

    assert errors(refused) == ["Failed to authenticate."]
    assert done["component"] == "redirect"
    assert await browser.who() == ada.username
    assert replayed["component"] == "identification"
    assert await other.who() is None


async def shipped(owner: Person, *names: str) -> list[dict[str, Any]]:
    known = {one["name"]: one for one in await results(owner, "/stages/all/")}
    return [known[f"default-authentication-{name}"] for name in names]


async def test_a_passkey_proves_nobody_who_is_named_afterwards(town: Town) -> None:
    """The run starts over with all it knows, and another name is typed."""
    owner, ada, bob = await owner_of(town), await town.sign_up(), await town.sign_up()
    key = await set_up_key(await signed_in(town, bob), town)
    identification, password, factors, login = await shipped(
        owner, "identification", "password", "mfa-validation", "login"
    )
    captcha = await make_stage(owner, "captcha", public_key="pow", private_key="none")
    flow = await make_flow(owner, "authentication")
    for order, stage in enumerate((identification, password, factors, captcha, login)):
        await make_binding(owner, flow, stage, order=order, invalid_response_action="restart_with_context")
    slug, browser = flow["slug"], Browser(town)
    asked = await browser.see(slug)
    await browser.answer(slug, component="identification", passkey=key.sign(asked["passkey_challenge"]))
    again = await browser.answer(slug, component="captcha", token="wrong")

    named = await browser.answer(slug, component="identification", uid_field=ada.username)

    assert (again["component"], named["component"]) == ("identification", "password")
    guessed = await browser.answer(slug, component="password", password=bob.password)
    assert (guessed["component"], await browser.who()) == ("identification", None)
    proof = key.sign(guessed["passkey_challenge"])
    shown = await browser.answer(slug, component="identification", passkey=proof)
    token = worked(shown["challenge"], shown["difficulty"])
    assert (await browser.answer(slug, component="captcha", token=token))["component"] == "redirect"
    assert await browser.who() == bob.username


async def test_a_password_proves_nobody_who_is_named_afterwards(town: Town) -> None:
    owner, ada, bob = await owner_of(town), await town.sign_up(), await town.sign_up()
    identification, password, login = await shipped(owner, "identification", "password", "login")
    second = await make_stage(owner, "identification", user_fields=["username"], template="login")
    flow = await make_flow(owner, "authentication")
    for order, stage in enumerate((identification, password, second, login)):
        await make_binding(owner, flow, stage, order=order)

    async def come_in(then: Person) -> str | None:
        browser = Browser(town)
        await browser.see(flow["slug"])
        await browser.answer(flow["slug"], component="identification", uid_field=bob.username)
        await browser.answer(flow["slug"], component="password", password=bob.password)
        await browser.answer(flow["slug"], component="identification", uid_field=then.username)
        return await browser.who()

    assert await come_in(ada) is None
    assert await come_in(bob) == bob.username


async def test_a_device_is_registered_once_and_only_for_this_place(town: Town) -> None:
    ada, eve = await town.sign_up(), await town.sign_up()
    hers = await signed_in(town, ada)
    key = await set_up_key(hers, town)
    browser = await signed_in(town, eve)

    asked = (await browser.see(WEBAUTHN))["registration"]
    taken = await browser.answer(WEBAUTHN, component="webauthn", response=key.register(asked))
    stale = await browser.answer(WEBAUTHN, component="webauthn", response=Key(town).register(asked))
    abroad = Key(town)
    abroad.origin = "https://evil.example"
    told = await browser.answer(WEBAUTHN, component="webauthn", response=abroad.register(stale["registration"]))

    for refused in (taken, stale, told):
        assert errors(refused) == ["Registration failed. Please try again."]


# Recovery


async def ask_for_recovery(town: Town, name: str) -> Browser:
    browser = Browser(town)
    await browser.see(RECOVERY)
    sent = await browser.answer(RECOVERY, component="identification", uid_field=name)
    assert sent["component"] == "email", sent
    return browser


async def test_a_mailed_link_leads_to_a_new_password_once(town: Town) -> None:
    ada = await town.sign_up()
    elsewhere = await signed_in(town, ada)
    await ask_for_recovery(town, ada.username)
    key = await link_in_mail(town, f"{ada.username}@example.org")
    phone, thief = Browser(town), Browser(town)
    query = {"flow_token": key}

    asked = await phone.follow(RECOVERY, key)
    stolen = await thief.follow(RECOVERY, key)
    short = await phone.answer(RECOVERY, query, component="prompt", password="short", password_repeat="short")
    fresh = {"password": "an entirely new one", "password_repeat": "an entirely new one"}
    done = await phone.answer(RECOVERY, query, component="prompt", **fresh)

    assert asked["component"] == "prompt"
    assert stolen["component"] == "access-denied"
    assert errors(short) == ["The password must have at least 8 characters."]
    assert done["component"] == "redirect"
    assert await phone.who() == ada.username
    assert await elsewhere.who() is None
    assert (await Browser(town).sign_in(ada))["component"] == "password"
    assert (await Browser(town).follow(RECOVERY, key))["component"] == "access-denied"


async def test_recovery_of_nobody_looks_the_same_and_sends_nothing(town: Town) -> None:
    before = len(town.mails())

    browser = await ask_for_recovery(town, "nobody-here")
    again = await browser.answer(RECOVERY, component="email")

    assert again["response_errors"]["non_field_errors"][0]["code"] == "email-sent"
    assert len(town.mails()) == before


async def test_only_the_newest_link_counts_and_only_in_its_flow(town: Town) -> None:
    ada = await town.sign_up()
    address = f"{ada.username}@example.org"
    browser = await ask_for_recovery(town, ada.username)
    first = await link_in_mail(town, address)
    await browser.answer(RECOVERY, component="email")
    second = await link_in_mail(town, address, more_than=1)

    old = await Browser(town).follow(RECOVERY, first)
    other_flow = await Browser(town).follow("default-enrollment-flow", second)
    eve = await signed_in(town, await town.sign_up())
    other_person = await eve.follow(RECOVERY, second)

    assert old["component"] == other_flow["component"] == other_person["component"] == "access-denied"


@pytest.mark.both_databases
async def test_of_many_answers_at_once_one_is_heard(town: Town) -> None:
    """Else one proof of work, or one invitation, would be good for as many accounts."""
    owner = await owner_of(town)
    write = await make_stage(owner, "user_write", user_creation_mode="always_create")
    flow = await flow_of(owner, "enrollment", await make_stage(owner), await questions(owner), write)
    browser, names = Browser(town), [new_name("new").replace("-", "_") for _ in range(10)]
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="dummy")

    answers = await asyncio.gather(
        *(browser.answer(flow["slug"], component="prompt", **person_called(name)) for name in names)
    )

    made = [name for name in names if await results(owner, "/core/users/", username=name)]
    assert len(made) == 1, [one["component"] for one in answers]


async def test_a_link_that_waited_too_long_is_over(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    flow = await flow_of(owner, "recovery", await identification(owner), await make_stage(owner, "email"))
    browser = Browser(town)
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="identification", uid_field=ada.username)
    key = await link_in_mail(town, f"{ada.username}@example.org")
    await run_sql(town, "UPDATE identity_flow_tokens SET expires_at = created_at")

    assert (await Browser(town).follow(flow["slug"], key))["component"] == "access-denied"


async def test_a_mailbox_is_not_a_second_factor(town: Town) -> None:
    ada = await town.sign_up()
    codes = await set_up_codes(await signed_in(town, ada))
    await ask_for_recovery(town, ada.username)
    key = await link_in_mail(town, f"{ada.username}@example.org")
    browser = Browser(town)

    asked = await browser.follow(RECOVERY, key)
    told = await browser.answer(RECOVERY, {"flow_token": key}, component="otpvalidate", code=codes[0])

    assert asked["component"] == "otpvalidate"
    assert told["component"] == "prompt"


async def test_mails_are_not_sent_without_end(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada = await town.sign_up()
    known, unknown = await ask_for_recovery(town, ada.username), await ask_for_recovery(town, "nobody")

    for browser in (known, unknown):
        told = [await browser.answer(RECOVERY, component="email") for _ in range(5)]
        codes = [one["response_errors"]["non_field_errors"][0]["code"] for one in told]
        assert codes == ["email-sent"] * 4 + ["throttled"]


async def enrollment_by_mail(owner: Person) -> dict[str, Any]:
    """A flow that makes people inactive until they open the link in a mail."""
    email = await make_stage(owner, "email", template="account_confirmation", activate_user_on_success=True)
    write = await make_stage(owner, "user_write", create_users_as_inactive=True, user_creation_mode="always_create")
    login = await make_stage(owner, "user_login")
    return await flow_of(owner, "enrollment", await questions(owner), write, email, login)


async def test_a_mail_confirms_and_activates_where_the_stage_says_so(town: Town) -> None:
    owner = await owner_of(town)
    flow = await enrollment_by_mail(owner)
    browser, name = Browser(town), new_name("new").replace("-", "_")

    await browser.see(flow["slug"])
    sent = await browser.answer(flow["slug"], component="prompt", **person_called(name))
    [before] = await results(owner, "/core/users/", username=name)
    key = await link_in_mail(town, f"{name}@example.org")
    done = await Browser(town).follow(flow["slug"], key)
    [after] = await results(owner, "/core/users/", username=name)
    changes = await results(owner, "/audit/events/", action="model_updated", username=name)

    assert sent["component"] == "email"
    assert done["component"] == "redirect"
    assert (before["is_active"], after["is_active"]) == (False, True)
    enabled = {"is_active": {"previous_value": False, "new_value": True}}
    assert enabled in [one["context"].get("diff") for one in changes]


async def test_the_operators_link_lets_somebody_in_once_whatever_the_flows_say(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await town.owner()
    [flow] = await results(ada, "/flows/instances/", slug=SIGN_IN)
    # Whether a flow that ships can be deleted is asked elsewhere; here only that the link does not need it.
    assert (await ada.call("DELETE", f"{API}/flows/instances/{flow['slug']}/")).status_code in (204, 404, 409)
    link = (await town.kith("recovery", ada.username)).strip()
    first, second = Browser(town), Browser(town)

    shown = await first.http.get(link)
    before = await first.who()
    used = await first.http.post(link, data={"csrf": csrf_of(shown)})
    again = await second.http.get(link)
    events = await results(ada, "/audit/events/")

    assert link.startswith(f"{town.base_url}/recovery/use-token/")
    assert ada.username in shown.text
    assert before is None, "mail programs open links, too"
    assert used.status_code == 303
    assert await first.who() == ada.username
    assert again.status_code == 404
    assert await second.who() is None
    assert "recovery_offered" in {event["action"] for event in events}
    assert link.split("/")[-2] not in msgspec.json.encode(events).decode()
    assert link.split("/")[-2] not in town.log()


async def test_an_operators_link_has_an_end_and_is_not_for_the_disabled(new_town: TownBuilder) -> None:
    town = await new_town()
    await town.owner()
    ada = await town.sign_up()
    link = (await town.kith("recovery", ada.username, "--minutes", "1")).strip()
    await run_sql(town, "UPDATE identity_flow_tokens SET expires_at = created_at")
    over = await town.http.get(link)
    await town.kith("users", "disable", ada.username)
    said = await town.kith("recovery", ada.username, expect=1)

    assert over.status_code == 404
    assert "is disabled" in said


async def test_broken_flows_are_brought_back(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await town.owner()
    for binding in await results(ada, "/flows/bindings/"):
        await ada.call("DELETE", f"{API}/flows/bindings/{binding['pk']}/")
    [stage] = await results(ada, "/stages/identification/", name="default-authentication-identification")
    await ada.call("PATCH", f"{API}/stages/identification/{stage['pk']}/", json={"user_fields": ["email"]})
    before, after = Browser(town), Browser(town)
    broken = await before.see(SIGN_IN)

    await town.kith("flows", "restore")
    await after.sign_in(ada)

    assert broken["component"] == "redirect"
    assert await before.who() is None
    assert await after.who() == ada.username


# Invitations


async def identification(owner: Person) -> dict[str, Any]:
    return await make_stage(owner, "identification", user_fields=["username"], template="login")


async def password(owner: Person) -> dict[str, Any]:
    return await make_stage(owner, "password", backends=["internal"])


async def questions(owner: Person) -> dict[str, Any]:
    asked = [
        await make(
            owner,
            "/stages/prompt/prompts/",
            name=new_name("q"),
            field_key=key,
            label=key,
            type=kind,
            placeholder=key,
            required=False,
        )
        for key, kind in (("username", "username"), ("email", "email"), ("password", "password"))
    ]
    return await make(owner, "/stages/prompt/stages/", name=new_name("form"), fields=[one["pk"] for one in asked])


async def flow_of(owner: Person, designation: str, *stages: dict[str, Any]) -> dict[str, Any]:
    flow = await make_flow(owner, designation)
    for place, stage in enumerate(stages):
        await make_binding(owner, flow, stage, order=place)
    return flow


def person_called(name: str) -> dict[str, Any]:
    return {"username": name, "email": f"{name}@example.org", "password": "a good long one"}


async def enrollment(owner: Person) -> dict[str, Any]:
    return await flow_of(
        owner,
        "enrollment",
        await make_stage(owner, "invitation"),
        await questions(owner),
        await make_stage(owner, "user_write", user_creation_mode="always_create"),
        await make_stage(owner, "user_login"),
    )


async def test_an_invitation_for_one_lets_one_in(town: Town) -> None:
    owner = await owner_of(town)
    flow = await enrollment(owner)
    invitation = await make(
        owner,
        "/stages/invitation/invitations/",
        name=new_name("invite"),
        single_use=True,
        fixed_data={"email": "fixed@example.org", "attributes.team": "blue"},
    )
    query, slug = {"itoken": invitation["pk"]}, flow["slug"]
    browsers = [Browser(town) for _ in range(4)]
    names = [new_name("guest").replace("-", "_") for _ in browsers]

    uninvited = await Browser(town).see(slug)
    seen = [await browser.see(slug, **query) for browser in browsers]
    await asyncio.gather(
        *(b.post(slug, query, component="prompt", **person_called(n)) for b, n in zip(browsers, names, strict=True))
    )
    came = [name for browser in browsers if (name := await browser.who())]
    late = await Browser(town).see(slug, **query)
    [made] = await results(owner, "/core/users/", username=came[0])

    assert uninvited["error_message"] == "Invalid invite/invite not found"
    assert [one["component"] for one in seen] == ["prompt"] * 4
    assert len(came) == 1
    assert late["component"] == "access-denied"
    assert made["email"] == "fixed@example.org"
    assert made["attributes"] == {"team": "blue"}
    events = await results(owner, "/audit/events/", action="invitation_used")
    assert fingerprint(invitation["pk"]) in [event["context"]["invitation_uuid"] for event in events]


async def test_an_invitation_ends_and_is_for_its_flow(town: Town) -> None:
    owner = await owner_of(town)
    flow, other = await enrollment(owner), await enrollment(owner)
    past = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    expired = await make(owner, "/stages/invitation/invitations/", name=new_name("i"), expires=past)
    bound = await make(owner, "/stages/invitation/invitations/", name=new_name("i"), flow=other["pk"])
    many = await make(owner, "/stages/invitation/invitations/", name=new_name("i"))

    async def seen(key: str) -> str:
        return str((await Browser(town).see(flow["slug"], itoken=key))["component"])

    assert await seen(expired["pk"]) == await seen(bound["pk"]) == await seen("x") == "access-denied"
    assert await seen(str(uuid.uuid4())) == "access-denied"
    assert await seen(many["pk"]) == await seen(many["pk"]) == "prompt"


# Consent


async def entered(town: Town, browser: Browser, slug: str, context: dict[str, Any]) -> dict[str, Any]:
    """As when somebody comes from an application: the plan knows it beforehand."""
    async with town.house() as house, house.works.begin() as work:
        session = await sessions.find_live(work.db, hash_key(browser.http.cookies["kith_session"]), work.now)
        flow = await find_flow(work, slug)
        assert session is not None
        assert flow is not None
        steps = await steps_of(work, flow.flow_uuid)
        known = msgspec.convert({"pending_user": session.user_id, **context}, PlanContext)
        plan = FlowPlan(str(uuid.uuid4()), flow.flow_uuid, steps, known, {})
        sealed = work.find(Sealer).seal(msgspec.json.encode(plan).decode(), PLACE)
        await sessions.drop_run(work.db, session.session_uuid, flow.flow_uuid)
        await sessions.save_run(work.db, plan.run_uuid, session.session_uuid, flow.flow_uuid, sealed, work.now)
    return await browser.see(slug)


def asking(application: dict[str, Any], *permissions: str) -> dict[str, Any]:
    return {
        "application": {"pk": application["pk"], "name": application["name"]},
        "consent_permissions": [{"id": one, "name": one.title()} for one in permissions],
    }


async def test_consent_is_asked_as_often_as_its_mode_says(town: Town) -> None:
    owner = await owner_of(town)
    application = await make(owner, "/core/applications/", name=new_name("wiki"), slug=new_name("wiki"))
    context = asking(application, "email")
    for mode, second in (("always_require", "consent"), ("permanent", "redirect"), ("expiring", "redirect")):
        browser = await signed_in(town, await town.sign_up())
        slug = (await flow_of(owner, "authorization", await make_stage(owner, "consent", mode=mode)))["slug"]

        first = await entered(town, browser, slug, context)
        forged = await browser.answer(slug, component="consent", token="x")
        stale = await browser.answer(slug, component="consent", token=first["token"])
        done = await browser.answer(slug, component="consent", token=stale["token"])
        again = await entered(town, browser, slug, context)

        assert first["permissions"] == [{"id": "email", "name": "Email"}]
        assert forged["component"] == stale["component"] == "consent"
        assert done["component"] == "redirect", mode
        assert again["component"] == second, mode


async def test_consent_is_asked_again_for_more_and_when_it_has_ended(town: Town) -> None:
    owner = await owner_of(town)
    application = await make(owner, "/core/applications/", name=new_name("wiki"), slug=new_name("wiki"))
    stage = await make_stage(owner, "consent", mode="expiring", consent_expire_in="minutes=5")
    slug = (await flow_of(owner, "authorization", stage))["slug"]
    browser = await signed_in(town, await town.sign_up())

    first = await entered(town, browser, slug, asking(application, "email"))
    await browser.answer(slug, component="consent", token=first["token"])
    more = await entered(town, browser, slug, asking(application, "email", "groups"))
    await browser.answer(slug, component="consent", token=more["token"])
    settled = await entered(town, browser, slug, asking(application, "groups"))
    await run_sql(town, "UPDATE identity_consents SET expires_at = created_at")
    over = await entered(town, browser, slug, asking(application, "email"))

    assert [one["id"] for one in more["permissions"]] == ["email"]
    assert [one["id"] for one in more["additional_permissions"]] == ["groups"]
    assert settled["component"] == "redirect"
    assert over["component"] == "consent"


# Captcha, policies


async def test_a_piece_of_work_is_good_once(town: Town) -> None:
    owner = await owner_of(town)
    captcha = [await make_stage(owner, "captcha", public_key="pow", private_key="none") for _ in range(2)]
    slug = (await flow_of(owner, "enrollment", *captcha))["slug"]
    browser = Browser(town)

    asked = await browser.see(slug)
    lazy = await browser.answer(slug, component="captcha", token=f"{asked['challenge']}:0")
    token = worked(lazy["challenge"], lazy["difficulty"])
    second = await browser.answer(slug, component="captcha", token=token)
    replayed = await browser.answer(slug, component="captcha", token=token)
    done = await browser.answer(slug, component="captcha", token=worked(replayed["challenge"], replayed["difficulty"]))

    assert errors(lazy) == errors(replayed) == ["Invalid captcha response"]
    assert (second["component"], errors(second)) == ("captcha", [])
    assert done["component"] == "redirect"


async def test_a_captcha_service_that_cannot_be_reached_lets_nobody_pass(town: Town) -> None:
    owner = await owner_of(town)
    stage = await make_stage(
        owner, "captcha", public_key="site", private_key="secret", api_url="http://127.0.0.1:9/verify"
    )
    slug = (await flow_of(owner, "enrollment", stage))["slug"]
    browser = Browser(town)
    await browser.see(slug)

    told = await browser.answer(slug, component="captcha", token="anything")

    assert errors(told) == ["Failed to validate token"]


async def test_scores_fall_with_failures_and_rise_with_sign_ins(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()

    async def score() -> int:
        found = await results(owner, "/policies/reputation/scores/", identifier=ada.username)
        return int(found[0]["score"]) if found else 0

    browser = Browser(town)
    await browser.name(ada)
    for _ in range(2):
        await browser.answer(SIGN_IN, component="password", password="wrong")
    low = await score()
    await browser.answer(SIGN_IN, component="password", password=ada.password)
    higher = await score()
    for _ in range(2):
        other = Browser(town)
        await other.name(ada)
        for _ in range(4):
            await other.answer(SIGN_IN, component="password", password="wrong")

    assert (low, higher) == (-2, -1)
    assert await score() == -5


async def test_a_password_that_is_easy_to_guess_is_refused(town: Town) -> None:
    owner = await owner_of(town)
    policy = await make(
        owner,
        "/policies/password/",
        name=new_name("strong"),
        error_message="No.",
        check_zxcvbn=True,
        zxcvbn_score_threshold=2,
    )

    async def verdict(text: str) -> dict[str, Any]:
        body = {"user": 1, "context": {"prompt_data": {"password": text}}}
        answer = await owner.call("POST", f"{API}/policies/all/{policy['pk']}/test/", json=body)
        told: dict[str, Any] = answer.json()
        return told

    weak, strong = await verdict("password1"), await verdict("correct-horse-battery-staple-42")

    assert weak["passing"] is False
    assert weak["messages"][0] == "Password is too weak."
    assert strong["passing"] is True


def worked(challenge: str, bits: int) -> str:
    number = 0
    while True:
        token = f"{challenge}:{number}"
        digest = hashlib.sha256(token.encode()).digest()
        if int.from_bytes(digest, "big") >> (256 - bits) == 0:
            return token
        number += 1


async def run_sql(town: Town, statement: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(command(text(statement)))
