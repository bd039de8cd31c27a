"""What somebody tries who wants in by another way than the flows lead: over the JSON protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pyotp
import pytest
from aiosmtpd.smtp import SMTP, AuthResult
from sqlalchemy import select

from kith.base.db import query
from kith.base.jobs.tables import jobs
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser, Key, age_guesses, errors, link_in_mail
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.identity.test_flows_run import (
    RECOVERY,
    STATIC,
    TOTP,
    flow_of,
    identification,
    password,
    person_called,
    questions,
    set_up_codes,
    set_up_key,
    set_up_totp,
    signed_in,
    worked,
)
from tests.town import Person, Town

# Where one is led

HOSTILE = (
    "//evil.example", "/\\evil.example", "\\\\evil.example", "https:evil.example", "https://evil.example/",
    "HTTPS://evil.example", "/\t/evil.example", "/\n/evil.example", "\t//evil.example", " //evil.example",
    "javascript:alert(1)", "data:text/html,x", "evil.example", "///evil.example", "/\\/evil.example", "",
)  # fmt: skip


async def test_no_next_leads_elsewhere(town: Town) -> None:
    owner = await owner_of(town)
    slug = (await flow_of(owner, "stage_setup", await make_stage(owner, "dummy")))["slug"]

    for hostile in HOSTILE:
        browser = Browser(town)
        await browser.see(slug, next=hostile)
        ended = await browser.answer(slug, {"next": hostile}, component="dummy")
        left = await browser.http.get("/flows/-/cancel/", params={"next": hostile})
        assert (ended["to"], left.headers["location"]) == ("/", "/"), hostile
    browser = Browser(town)
    await browser.see(slug, next="/%2f%2fevil.example")
    assert (await browser.answer(slug, component="dummy"))["to"] == "/%2f%2fevil.example"


# Sessions and plans


async def test_neither_a_session_nor_a_plan_outlives_its_use(town: Town) -> None:
    ada, browser, fixed = await town.sign_up(), Browser(town), Browser(town)
    await browser.see(SIGN_IN)
    fixed.http.cookies = httpx.Cookies(browser.http.cookies)  # the attacker knows the key from before
    await browser.answer(SIGN_IN, component="identification", uid_field=ada.username)
    await browser.answer(SIGN_IN, component="password", password=ada.password)
    secret = (await browser.see(TOTP))["secret"]
    stolen = Browser(town)
    stolen.http.cookies = httpx.Cookies(browser.http.cookies)
    await browser.answer("default-invalidation-flow", component="sign-out")

    after = await stolen.answer(TOTP, component="otptime", code="000000")
    replayed = await stolen.answer(SIGN_IN, component="password", password=ada.password)

    assert secret
    assert await fixed.who() is await browser.who() is await stolen.who() is None
    assert after["component"] == "access-denied"
    assert replayed["component"] == "identification"


async def test_the_links_in_mails_know_only_our_own_host(town: Town) -> None:
    ada, browser = await town.sign_up(), Browser(town)
    browser.http.headers.update({"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
    await browser.see(RECOVERY)
    await browser.answer(RECOVERY, component="identification", uid_field=ada.username)

    await link_in_mail(town, f"{ada.username}@example.org")

    [mail] = [one for one in town.mails() if one["To"] == f"{ada.username}@example.org"]
    body = mail.get_body(("plain",))
    assert body is not None
    assert f"{town.base_url}/flows/{RECOVERY}/?flow_token=" in body.get_content()
    assert "evil.example" not in body.get_content()


# Signing up


async def test_a_form_sets_nothing_but_what_is_its_to_set(town: Town) -> None:
    owner = await owner_of(town)
    mighty: dict[str, Any] = {
        "is_superuser": "true",
        "is_active": "true",
        "role": "owner",
        "id": "1",
        "pk": "1",
        "type": "internal",
        "groups": "x",
        "approved_at": "2020-01-01",
        "attributes.ok": "yes",
    }
    asked = [
        await make(
            owner,
            "/stages/prompt/prompts/",
            name=new_name("q"),
            field_key=key,
            label=key,
            placeholder=key,
            type="text",
            required=False,
        )
        for key in mighty
    ]
    more = await make(owner, "/stages/prompt/stages/", name=new_name("form"), fields=[one["pk"] for one in asked])
    write = await make_stage(
        owner, "user_write", user_creation_mode="always_create", create_users_as_inactive=True, user_type="external"
    )
    slug = (await flow_of(owner, "enrollment", more, await questions(owner), write))["slug"]
    browser, name = Browser(town), new_name("new")

    await browser.see(slug)
    await browser.answer(slug, component="prompt", **mighty)
    await browser.answer(slug, component="prompt", **person_called(name), **mighty)
    [made] = await results(owner, "/core/users/", username=name)

    assert (made["is_superuser"], made["is_active"], made["type"], made["groups"]) == (False, False, "external", [])
    assert made["attributes"] == {"ok": "yes"}


async def test_of_many_who_take_the_same_name_at_once_one_gets_it(town: Town) -> None:
    owner = await owner_of(town)
    write = await make_stage(owner, "user_write", user_creation_mode="always_create")
    slug = (await flow_of(owner, "enrollment", await questions(owner), write))["slug"]
    browsers, name = [Browser(town) for _ in range(4)], new_name("wanted")
    for browser in browsers:
        await browser.see(slug)

    told = await asyncio.gather(*(b.answer(slug, component="prompt", **person_called(name)) for b in browsers))

    assert [one["component"] for one in told].count("redirect") == 1
    assert len(await results(owner, "/core/users/", username=name)) == 1


# Second factors


async def test_neither_anothers_device_nor_a_lesser_one_is_taken(town: Town) -> None:
    owner, ada, eve = await owner_of(town), await town.sign_up(), await town.sign_up()
    codes = await set_up_codes(await signed_in(town, ada))
    hers = await set_up_totp(await signed_in(town, eve))
    only_keys = await make_stage(owner, "otp_validate", not_configured_action="deny", device_classes=["webauthn"])
    strict = (await flow_of(owner, "authentication", await identification(owner), await password(owner), only_keys))[
        "slug"
    ]
    browser, lesser = Browser(town), Browser(town)

    await browser.sign_in(ada)
    foreign = await browser.answer(SIGN_IN, component="otpvalidate", code=hers.now())
    named = await browser.answer(
        SIGN_IN, component="otpvalidate", code=hers.now(), selected_challenge={"device_class": "totp"}
    )
    empty = await browser.answer(SIGN_IN, component="otpvalidate", selected_stage="x")
    await lesser.see(strict)
    await lesser.answer(strict, component="identification", uid_field=ada.username)
    denied = await lesser.answer(strict, component="password", password=ada.password)
    downgraded = await lesser.answer(strict, component="otpvalidate", code=codes[0])

    assert all(one["component"] == "otpvalidate" and errors(one) for one in (foreign, named, empty))
    assert denied["error_message"] == "No (allowed) MFA authenticator configured."
    assert downgraded["component"] == "identification"
    assert await browser.who() is await lesser.who() is None


async def test_guesses_sent_side_by_side_are_all_counted(town: Town) -> None:
    ada = await town.sign_up()
    codes = await set_up_codes(await signed_in(town, ada))
    browsers = [Browser(town) for _ in range(4)]
    for browser in browsers:
        await browser.sign_in(ada)

    told = await asyncio.gather(*(b.answer(SIGN_IN, component="otpvalidate", code="wrong") for b in browsers))
    right = await browsers[0].answer(SIGN_IN, component="otpvalidate", code=codes[0])
    await age_guesses(town, ada)
    later = await browsers[0].answer(SIGN_IN, component="otpvalidate", code=codes[0])

    assert all(errors(one) for one in told)
    assert right["response_errors"]["code"][0]["code"] == "throttled"
    assert later["component"] == "redirect"


async def test_a_factor_is_not_asked_again_so_soon_on_the_same_browser(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    codes = await set_up_codes(await signed_in(town, ada))
    validate = await make_stage(owner, "otp_validate", not_configured_action="deny", last_auth_threshold="hours=1")
    slug = (
        await flow_of(
            owner,
            "authentication",
            await identification(owner),
            await password(owner),
            validate,
            await make_stage(owner, "user_login"),
        )
    )["slug"]
    browser, other = Browser(town), Browser(town)

    async def comes(visitor: Browser, secret: str) -> dict[str, Any]:
        visitor.http.cookies.delete("kith_session")
        await visitor.see(slug)
        await visitor.answer(slug, component="identification", uid_field=ada.username)
        return await visitor.answer(slug, component="password", password=secret)

    first = await comes(browser, ada.password)
    await browser.answer(slug, component="otpvalidate", code=codes[0])
    second, elsewhere = await comes(browser, ada.password), await comes(other, ada.password)
    events = await results(owner, "/audit/events/", action="login", username=ada.username)
    other.http.cookies.set("kith_marks", browser.http.cookies["kith_marks"][:-6] + "AAAAAA")
    forged = await comes(other, ada.password)
    await town.kith("users", "set-password", ada.username, "--password", "a wholly new one")
    changed = await comes(browser, "a wholly new one")

    assert first["component"] == elsewhere["component"] == forged["component"] == changed["component"] == "otpvalidate"
    assert second["component"] == "redirect"
    known = [one["context"]["auth_method_args"]["known_device"] for one in events if one["context"].get("flow") == slug]
    assert sorted(known) == [False, True]
    await set_up_codes_anew(town, ada, browser)
    assert (await comes(browser, "a wholly new one"))["component"] == "otpvalidate"


async def set_up_codes_anew(town: Town, ada: Person, browser: Browser) -> None:
    """A new list is another device, so that what was proved with the old one is void."""
    link = (await town.kith("recovery", ada.username)).strip()
    await browser.http.get(link)
    await browser.see(STATIC)
    await browser.answer(STATIC, component="otpstatic")


async def test_a_passkey_that_proves_nothing_names_nobody(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    key = await set_up_key(await signed_in(town, ada), town)
    browser, unknown = Browser(town), Key(town)
    await browser.see(SIGN_IN)

    async def tried(sign: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        asked = (await browser.see(SIGN_IN))["passkey_challenge"]
        return await browser.answer(SIGN_IN, component="identification", passkey=sign(asked))

    def abroad(asked: dict[str, Any]) -> dict[str, Any]:
        key.host, key.origin = "evil.example", "https://evil.example"
        signed = key.sign(asked)
        key.host, key.origin = "127.0.0.1", town.base_url
        return signed

    used = (await browser.see(SIGN_IN))["passkey_challenge"]
    replay = key.sign(used)
    refused = [
        await tried(abroad),
        await tried(lambda asked: key.sign(asked, verified=False)),
        await tried(lambda _asked: replay),
        await tried(unknown.sign),
        await tried(lambda _asked: "nonsense"),
    ]
    events = await results(owner, "/audit/events/", action="login_failed", username=ada.username)
    done = await tried(key.sign)
    rolled = Browser(town)
    key.count -= 2
    asked = (await rolled.see(SIGN_IN))["passkey_challenge"]
    back = await rolled.answer(SIGN_IN, component="identification", passkey=key.sign(asked))

    assert [errors(one) for one in refused] == [["Failed to authenticate."]] * 5
    assert len(events) == 3
    assert done["component"] == "redirect"
    assert back["component"] == "identification"
    assert await rolled.who() is None


async def test_the_old_kind_of_stage_sets_up_and_then_asks(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    stages = [
        await identification(owner),
        await password(owner),
        await make_stage(owner, "otp", enforced=True),
        await make_stage(owner, "user_login"),
    ]
    slug = (await flow_of(owner, "authentication", *stages))["slug"]
    first, second = Browser(town), Browser(town)

    async def comes(browser: Browser) -> dict[str, Any]:
        await browser.see(slug)
        await browser.answer(slug, component="identification", uid_field=ada.username)
        return await browser.answer(slug, component="password", password=ada.password)

    setting_up = await comes(first)
    code = pyotp.TOTP(setting_up["secret"]).now()
    wrong = await first.answer(slug, component="otp", code="abcdef")
    done = await first.answer(slug, component="otp", code=code)
    asked = await comes(second)
    reused = await second.answer(slug, component="otp", code=code)

    assert setting_up["component"] == wrong["component"] == asked["component"] == "otp"
    assert errors(wrong) == ["Code does not match"]
    assert done["component"] == "redirect"
    assert asked["device_challenges"][0]["device_class"] == "totp"
    assert errors(reused)
    assert await second.who() is None


# Captcha


async def test_nobody_is_looked_up_before_the_captcha_is_right(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    work = await make_stage(owner, "captcha", public_key="pow", private_key="none")
    down = await make_stage(owner, "captcha", public_key="s", private_key="s", api_url="http://127.0.0.1:9/verify")
    for captcha, complaint in ((work, "Invalid captcha response"), (down, "Failed to validate token")):
        stage = await make_stage(
            owner,
            "identification",
            user_fields=["username"],
            template="login",
            captcha_stage=captcha["pk"],
            password_stage=(await password(owner))["pk"],
        )
        slug = (await flow_of(owner, "authentication", stage, await make_stage(owner, "user_login")))["slug"]
        browser = Browser(town)
        who: dict[str, Any] = {"component": "identification", "uid_field": ada.username, "password": ada.password}
        asked = (await browser.see(slug))["captcha_stage"]
        without = await browser.answer(slug, **who)
        wrong = await browser.answer(slug, **who, captcha_token="x")
        assert asked["site_key"] == captcha["public_key"]
        assert errors(without) == ["This field may not be blank."]
        assert errors(wrong) == [complaint]
        assert await browser.who() is None
    browser, slug = Browser(town), (await flow_of(owner, "authentication", await _with(owner, work)))["slug"]
    asked = (await browser.see(slug))["captcha_stage"]
    token = worked(asked["challenge"], asked["difficulty"])
    first = await browser.answer(slug, component="identification", uid_field="", captcha_token=token)
    again = await browser.answer(slug, component="identification", uid_field=ada.username, captcha_token=token)
    assert errors(first) == ["This field may not be blank."]
    assert errors(again) == ["Invalid captcha response"]


async def _with(owner: Person, captcha: dict[str, Any]) -> dict[str, Any]:
    return await make_stage(
        owner, "identification", user_fields=["username"], template="login", captcha_stage=captcha["pk"]
    )


# Policies


async def _expression(owner: Person, body: str) -> str:
    policy = await make(owner, "/policies/expression/", name=new_name("p"), expression=body)
    return str(policy["pk"])


@pytest.mark.parametrize(
    ("body", "binding"),
    [
        ("return 1 / 0", {"negate": True}),
        ("while True:\n    pass", {"timeout": 1}),
        ("return None", {}),
    ],
)
async def test_a_policy_that_cannot_tell_lets_nobody_pass(town: Town, body: str, binding: dict[str, Any]) -> None:
    owner = await owner_of(town)
    flow = await flow_of(owner, "stage_setup", await make_stage(owner, "dummy"))
    policy = await _expression(owner, body)
    await make(owner, "/policies/bindings/", policy=policy, target=flow["pbm_uuid"], order=0, **binding)

    assert (await Browser(town).see(flow["slug"]))["component"] == "access-denied"


async def test_whoever_left_a_group_is_refused_at_once(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    [found] = await results(owner, "/core/users/", username=ada.username)
    group = await make(owner, "/core/groups/", name=new_name("g"), user_set=[found["pk"]])
    flow = await make_flow(owner, "stage_setup")
    await make_binding(owner, flow, await make_stage(owner, "dummy"))
    await make(owner, "/policies/bindings/", group=group["pk"], target=flow["pbm_uuid"], order=0)
    browser = await signed_in(town, ada)

    inside = await browser.see(flow["slug"])
    await owner.call("PATCH", f"{API}/core/groups/{group['pk']}/", json={"user_set": []})
    await browser.http.get("/flows/-/cancel/", params={"flow": flow["slug"]})
    outside = await browser.see(flow["slug"])

    assert (inside["component"], outside["component"]) == ("dummy", "access-denied")


# Expired passwords


async def test_an_expired_password_never_lets_in_without_a_new_one(town: Town) -> None:
    owner, ada, eve = await owner_of(town), await town.sign_up(), await town.sign_up()
    codes = await set_up_codes(await signed_in(town, ada))
    for deny_only, person in ((False, ada), (True, eve)):
        policy = await make(owner, "/policies/passwordexpiry/", name=new_name("old"), days=0, deny_only=deny_only)
        flow = await make_flow(owner, "authentication")
        validate = await make_stage(owner, "otp_validate", not_configured_action="skip")
        stages = [await identification(owner), await password(owner), validate, await make_stage(owner, "user_login")]
        bindings = [await make_binding(owner, flow, one, order=n) for n, one in enumerate(stages)]
        await make(owner, "/policies/bindings/", policy=policy["pk"], target=bindings[1]["pbm_uuid"], order=0)
        slug, browser = flow["slug"], Browser(town)
        await browser.see(slug)
        named = await browser.answer(slug, component="identification", uid_field=person.username)
        told = await browser.answer(slug, component="password", password=person.password)
        assert named["component"] == "password"
        if deny_only:
            assert told["error_message"] == "Password has expired."
            assert await browser.who() is None
            continue
        assert told["component"] == "otpvalidate"  # the second factor comes before the new password
        asked = await browser.answer(slug, component="otpvalidate", code=codes[0])
        skipped = await browser.answer(slug, component="userlogin")
        assert asked["component"] == skipped["component"] == "prompt"
        assert await browser.who() is None
        fresh: dict[str, Any] = {"password": "an entirely new one", "password_repeat": "an entirely new one"}
        assert (await browser.answer(slug, component="prompt", **fresh))["component"] == "redirect"
        assert await browser.who() == person.username


# Mail by a stage's own server


class Postbox:
    def __init__(self) -> None:
        self.came: asyncio.Queue[tuple[str, str, bytes]] = asyncio.Queue()

    async def handle_DATA(self, _server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        await self.came.put((session.auth_data or "", envelope.mail_from, envelope.content))
        return "250 OK"


@asynccontextmanager
async def smtp() -> AsyncIterator[tuple[Postbox, int]]:
    box = Postbox()

    def accepts(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> Any:
        return AuthResult(success=True, auth_data=f"{data.login.decode()}:{data.password.decode()}")

    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(box, authenticator=accepts, auth_require_tls=False, enable_SMTPUTF8=False), "127.0.0.1", 0
    )
    try:
        yield box, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


async def test_a_stage_sends_by_its_own_server_and_no_job_knows_its_password(new_town: TownBuilder) -> None:
    town = await new_town(worker="off", private_hosts="127.0.0.1")
    owner, ada = await town.owner(), await town.sign_up()
    async with smtp() as (box, port):
        stage = await make_stage(
            owner,
            "email",
            use_global_settings=False,
            host="127.0.0.1",
            port=port,
            username="sender",
            password="p@ss:w/rd",
            from_address="flows@example.org",
            subject="Hello there",
        )
        slug = (await flow_of(owner, "recovery", await identification(owner), stage))["slug"]
        browser = Browser(town)
        await browser.see(slug)
        await browser.answer(slug, component="identification", uid_field=ada.username)
        async with town.house() as house, house.works.begin() as work:
            waiting = await work.db.all(query(select(jobs.c.kind, jobs.c.payload), tuple))
        await town.stop()
        town._settings["worker"] = "on"
        await town.start()
        async with asyncio.timeout(120):
            who, sender, content = await box.came.get()

    assert any(kind == "identity.stage_mail" for kind, _ in waiting)
    assert not any("p@ss" in payload for _, payload in waiting)
    assert (who, sender) == ("sender:p@ss:w/rd", "flows@example.org")
    assert b"Subject: Hello there" in content
    assert town.mails() == []
