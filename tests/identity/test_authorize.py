"""The authorization endpoint, as clients, people and people with bad intentions meet it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from sqlalchemy import text

from kith.base.db import command
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.clients.client import find as find_client
from kith.identity.providers.oauth2.grants.service import hash_key
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.tables import App, Code, Grant
from kith.identity.users import store as users
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.identity.oauth_clients import (
    AUTHORIZE,
    BACK,
    CONSENT,
    SOCIAL,
    Registered,
    agree,
    enter,
    make_app,
    make_client,
    path_of,
    pkce,
    query_of,
    signed_in,
    told_to,
)
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.town import Person, Town, build_town
from tests.town.town import Engine

IMPLICIT = "default-provider-authorization-implicit-consent"
NONCE = {"nonce": "n-1"}


async def found(town: Town, key: str) -> tuple[Code, Grant]:
    """What is kept of a code."""
    async with town.house() as house, house.works.begin() as work:
        code = await store.find_code(work.db, hash_key(key))
        assert code is not None
        grant = await store.find_grant(work.db, code.grant_uuid)
        assert grant is not None
        return code, grant


_clients: dict[tuple[str, str], Registered] = {}


async def one_of(town: Town, kind: str) -> Registered:
    """One for all tests that change nothing about it."""
    if (town.base_url, kind) not in _clients:
        types = ["code", "id_token", "id_token token"] if kind == "code and tokens" else ["code"]
        made = await make_app(town) if kind == "social" else await make_client(town, response_types=types)
        _clients[town.base_url, kind] = made
    return _clients[town.base_url, kind]


async def events(town: Town, person: Person, action: str) -> list[dict[str, Any]]:
    """Newest first."""
    owner = await owner_of(town)
    return await results(owner, "/audit/events/", action=action, username=person.username)


@pytest.fixture(scope="module")
async def strict(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town that counts, and that wants addresses confirmed."""
    async with build_town(engine, tmp_path_factory.mktemp("strict"), confirm_email="on", rate_limits="on") as built:
        yield built


# Who asks, and where the answer goes


@pytest.mark.parametrize(
    "more",
    [
        {"client_id": "-"},
        {"client_id": "nobody"},
        {"client_id": "x" * 300},
        {"redirect_uri": "-"},
        {"redirect_uri": ""},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": f"{BACK}&more=1"},
        {"redirect_uri": f"{BACK}#x"},
        {"redirect_uri": "https://app.example/"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": "urn:ietf:wg:oauth:2.0:oob"},
        {"request_uri": "urn:ietf:params:oauth:request_uri:made-up"},
        {"state": "x" * 20_000},
        {"state": "a\0b"},
    ],
)
@pytest.mark.parametrize("social", [False, True])
async def test_nobody_is_sent_anywhere_before_client_and_address_belong_together(
    town: Town, social: bool, more: dict[str, str]
) -> None:
    client = await one_of(town, "social" if social else "code")
    browser = Browser(town)

    answers = [await enter(browser, client, **more, prompt="none")]
    if not social and "request_uri" not in more:
        answers.append(await browser.http.post(AUTHORIZE, data=client.ask(**more)))

    for answer in answers:
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert answer.headers["x-request-id"] in answer.text
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] == "no-referrer"


async def test_a_client_of_one_half_is_unknown_to_the_other(town: Town) -> None:
    app, client, browser = await make_app(town), await make_client(town), Browser(town)

    for path, other in ((AUTHORIZE, app), (SOCIAL, client)):
        answer = await browser.http.get(f"{path}?{urlencode(other.ask())}")
        assert (answer.status_code, "Client ID Error" in answer.text) == (400, True)


async def test_a_repeated_address_is_a_page_and_any_other_repetition_an_answer(town: Town) -> None:
    client, browser = await make_client(town), Browser(town)
    good = urlencode(client.ask())

    page = await browser.http.get(f"{AUTHORIZE}?{good}&{urlencode({'redirect_uri': BACK})}")
    again = await browser.http.get(f"{AUTHORIZE}?{good}&scope=openid")
    target = await browser.http.get(f"{AUTHORIZE}?{good}&resource=https://a.example&resource=https://b.example")

    assert page.status_code == 400
    assert told_to(again)["error"] == "invalid_request"
    assert told_to(target)["error"] == "invalid_target"


S256 = pkce()[1]


@pytest.mark.parametrize(
    ("more", "error", "mark"),
    [
        ({"response_type": "-"}, "invalid_request", "?"),
        ({"response_type": "bread"}, "unsupported_response_type", "?"),
        ({"response_type": "code bread"}, "unsupported_response_type", "?"),
        ({"response_type": "token"}, "unauthorized_client", "#"),
        ({"response_type": "code token", **NONCE}, "unauthorized_client", "#"),
        ({"response_type": "id_token", "nonce": "-"}, "invalid_request", "#"),
        ({"response_type": "token id_token", "nonce": ""}, "invalid_request", "#"),
        ({"response_type": "id_token", **NONCE, "response_mode": "query"}, "invalid_request", "#"),
        ({"response_type": "id_token", **NONCE, "scope": "email"}, "invalid_scope", "#"),
        ({"response_mode": "pigeon"}, "invalid_request", "?"),
        ({"response_mode": "fragment", "prompt": "none"}, "login_required", "#"),
        ({"prompt": "none"}, "login_required", "?"),
        ({"prompt": "none login"}, "invalid_request", "?"),
        ({"max_age": "soon"}, "invalid_request", "?"),
        ({"max_age": "-1"}, "invalid_request", "?"),
        ({"request": "eyJ"}, "invalid_request_object", "?"),
        ({"request_uri": "https://app.example/request"}, "invalid_request_uri", "?"),
        ({"request": "eyJ", "request_uri": "https://app.example/request"}, "invalid_request", "?"),
        ({"registration": "{}"}, "registration_not_supported", "?"),
        ({"code_challenge": ""}, "invalid_request", "?"),
        ({"code_challenge": "", "code_challenge_method": "S256"}, "invalid_request", "?"),
        ({"code_challenge": S256, "code_challenge_method": "s256"}, "invalid_request", "?"),
        ({"code_challenge": S256, "code_challenge_method": "S512"}, "invalid_request", "?"),
        ({"code_challenge": S256, "code_challenge_method": ""}, "invalid_request", "?"),
        ({"code_challenge": "short", "code_challenge_method": "S256"}, "invalid_request", "?"),
        ({"code_challenge": S256 + "=", "code_challenge_method": "S256"}, "invalid_request", "?"),
        ({"code_challenge_method": "S256"}, "invalid_request", "?"),
        ({"claims": "no"}, "invalid_request", "?"),
        ({"claims": '{"id_token": 7}'}, "invalid_request", "?"),
        ({"claims": "[" * 3000}, "invalid_request", "?"),
        ({"resource": "not absolute"}, "invalid_target", "?"),
        ({"resource": "https://api.example/#x"}, "invalid_target", "?"),
        ({"id_token_hint": "x.y.z", "prompt": "none"}, "login_required", "?"),
    ],
)
async def test_every_other_no_goes_to_the_client_in_its_way(
    town: Town, more: dict[str, str], error: str, mark: str
) -> None:
    client = await one_of(town, "code and tokens")

    answer = await enter(Browser(town), client, **more)

    told = told_to(answer)
    assert answer.headers["location"].startswith(f"{BACK}{'&' if mark == '?' else '#'}error=")
    assert (told["error"], told["state"]) == (error, "s t&ate")
    assert told["iss"] == f"{town.base_url}/application/o/{client.slug}/"
    assert told["error_description"]


async def test_a_challenge_hides_its_answer_and_a_public_client_needs_one(town: Town) -> None:
    client, other, browser = await make_client(town, client_type="public"), await make_client(town), Browser(town)

    plain = ({"code_challenge": S256}, {"code_challenge": S256, "code_challenge_method": "plain"})
    for more in ({}, *plain):
        assert told_to(await enter(browser, client, **more))["error"] == "invalid_request", more
    for more in plain:
        assert told_to(await enter(browser, other, **more))["error"] == "invalid_request", more
    good = await enter(browser, client, code_challenge=S256, code_challenge_method="S256")
    without = await enter(browser, other)

    assert path_of(good).startswith("/flows/")
    assert path_of(without).startswith("/flows/")


# Signing in, being asked, the code


async def test_a_person_signs_in_agrees_and_is_sent_back_with_a_code(town: Town) -> None:
    client, ada, browser = await make_client(town), await town.sign_up(), Browser(town)
    _, challenge = pkce()
    more = {
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "nonce": "n-1",
        "login_hint": ada.username,
        "lang": "de",
        "scope": "openid email offline_access read bread",
        "resource": "https://api.example",
        "claims": '{"userinfo": {"name": null}, "other": {}}',
        "acr_values": "a b",
    }

    sent = path_of(await enter(browser, client, **more))
    asked = await browser.see(SIGN_IN)
    await browser.answer(SIGN_IN, component="identification", uid_field=ada.username)
    back = await browser.answer(SIGN_IN, component="password", password=ada.password)
    to_flow = path_of(await browser.http.get(back["to"]))
    consent = await browser.see(CONSENT)
    proven = await agree(browser)
    answer = await browser.http.get(proven)
    twice = await browser.http.get(proven)

    assert sent.startswith(f"/flows/{SIGN_IN}/?")
    assert {"login_hint", "lang", "next"} == set(query_of(sent))
    assert asked["pending_user_identifier"] == ada.username
    assert query_of(back["to"]) == client.ask(**more)
    assert to_flow == f"/flows/{CONSENT}/?lang=de"
    assert consent["application"] == f"The {client.slug}"
    assert [one["id"] for one in consent["permissions"]] == ["openid", "email", "offline_access", "profile"]
    told = told_to(answer)
    assert set(told) == {"code", "state", "iss"}
    code, grant = await found(town, told["code"])
    assert (code.redirect_uri, code.nonce, code.challenge, code.challenge_method) == (BACK, "n-1", challenge, "S256")
    assert timedelta(0) < code.expires_at - grant.created_at <= timedelta(seconds=60)
    assert (grant.client_id, grant.provider_id) == (client.client_id, client.provider["pk"])
    assert (grant.scopes, grant.resource) == ("openid email offline_access", "https://api.example")
    allowed = ["openid", "email", "offline_access", "profile"]
    assert grant.claims == {"userinfo": {"name": None}, "acr_values": ["a", "b"], "scopes": allowed}
    assert (grant.auth_method, grant.auth_time is not None, grant.session_uuid is not None) == ("password", True, True)
    assert twice.status_code == 400
    [event] = await events(town, ada, "authorize_application")
    assert event["context"]["authorized_application"] == {
        "app": "core",
        "model_name": "application",
        "pk": client.application["pk"],
        "name": f"The {client.slug}",
    }
    assert event["context"]["scopes"] == ["openid", "email", "offline_access"]
    assert event["context"]["flow"] == client.provider["authorization_flow"]


async def test_only_whoever_walked_the_flow_can_end_it(town: Town) -> None:
    client = await make_client(town, reuse_consent=False)
    ada, eve = await signed_in(town), await signed_in(town)
    await enter(ada, client)
    proven = await agree(ada)
    query = query_of(proven)

    strangers = await eve.http.get(proven)
    guessed = await ada.http.get(f"{AUTHORIZE}?{urlencode(query | {'proof': 'guessed'})}")
    of_other = await ada.http.get(
        f"{AUTHORIZE}?{urlencode(query | {'client_id': (await make_client(town)).client_id})}"
    )

    assert path_of(strangers).startswith(f"/flows/{CONSENT}/")
    assert path_of(guessed).startswith(f"/flows/{CONSENT}/")
    assert of_other.status_code == 400
    # Whoever is asked anew is answered once, too; the word of the first walk is void.
    assert path_of(await ada.http.get(proven)).startswith(f"/flows/{CONSENT}/")
    assert "code" in told_to(await ada.http.get(await agree(ada)))


async def test_a_second_tab_takes_over_and_neither_agrees_to_the_other(town: Town) -> None:
    first, second, browser = await make_client(town), await make_client(town), await signed_in(town)
    await enter(browser, first)
    token = (await browser.see(CONSENT))["token"]
    await enter(browser, second)

    answered = await browser.answer(CONSENT, component="consent", token=token)

    assert answered["component"] == "consent"
    assert answered["application"] == f"The {second.slug}"
    assert answered["response_errors"]["token"]


@pytest.mark.parametrize(
    ("record", "first", "second"),
    [
        ({"require_consent": False}, False, False),
        ({"require_consent": True, "reuse_consent": False}, True, True),
        ({"require_consent": True, "reuse_consent": True}, True, False),
    ],
)
async def test_how_often_somebody_is_asked_is_for_the_record_to_say(
    town: Town, record: dict[str, Any], first: bool, second: bool
) -> None:
    client, browser = await make_client(town, **record), await signed_in(town)

    async def is_asked(**more: str) -> bool:
        answer = await enter(browser, client, **more)
        if not answer.headers["location"].startswith("/flows/"):
            assert "code" in told_to(answer)
            return False
        assert "code" in told_to(await browser.http.get(await agree(browser)))
        return True

    silent = told_to(await enter(browser, client, prompt="none"))
    assert await is_asked() is first
    assert await is_asked() is second
    assert await is_asked(prompt="consent")
    again = told_to(await enter(browser, client, prompt="none"))
    more = await enter(browser, client, prompt="none", scope="openid email profile")

    assert ("code" in silent) is not first
    assert ("code" in again) is not second
    if first:
        assert silent["error"] == "consent_required"
        assert told_to(more)["error"] == "consent_required"


async def test_consent_can_be_asked_where_the_flow_does_not(town: Town) -> None:
    owner, browser = await owner_of(town), await signed_in(town)
    [flow] = await results(owner, "/flows/instances/", slug=IMPLICIT)
    client = await make_client(town, authorization_flow=flow["pk"])

    silent = await enter(browser, client)
    asked = await enter(browser, client, prompt="consent")

    assert "code" in told_to(silent)
    assert path_of(asked) == f"/flows/{IMPLICIT}/"
    assert "code" in told_to(await browser.http.get(await agree(browser, IMPLICIT)))


async def test_a_flow_that_shows_something_or_refuses(town: Town) -> None:
    owner, browser = await owner_of(town), await signed_in(town)
    shows, refuses = await make_flow(owner, "authorization"), await make_flow(owner, "authorization")
    await make_binding(owner, shows, await make_stage(owner))
    await make_binding(owner, refuses, await make_stage(owner, "deny", deny_message="Not by this door."))
    client = await make_client(town, authorization_flow=shows["pk"])
    closed = await make_client(town, authorization_flow=refuses["pk"])

    silent = told_to(await enter(browser, client, prompt="none"))
    assert path_of(await enter(browser, client)) == f"/flows/{shows['slug']}/"
    done = await browser.answer(shows["slug"], component="dummy")
    told = told_to(await browser.http.get(done["to"]))
    page = await enter(browser, closed)

    assert silent["error"] == "interaction_required"
    assert "code" in told
    assert (page.status_code, "Not by this door." in page.text) == (403, True)
    assert told_to(await enter(browser, closed, prompt="none"))["error"] == "access_denied"


@pytest.mark.parametrize("more", [{"prompt": "login"}, {"prompt": "select_account"}, {"max_age": "0"}])
@pytest.mark.parametrize("by_form", [False, True])
async def test_whoever_must_sign_in_anew_does_so_once(town: Town, more: dict[str, str], by_form: bool) -> None:
    client, ada = await make_client(town, require_consent=False), await town.sign_up()
    browser = await signed_in(town, ada)
    old = browser.http.cookies["kith_session"]

    answer = await enter(browser, client, **more)
    if by_form:
        kept = path_of(await browser.http.post(AUTHORIZE, data=client.ask(**more)))
        answer = await browser.http.get(kept)
    to = path_of(answer)
    query = query_of(to)
    unmoved = path_of(await browser.http.get(query["next"]))
    forged = await browser.http.get(re.sub(r"signed_in_after=\d", "signed_in_after=1", query["next"]))
    asked = await browser.see(SIGN_IN, **query)
    await browser.answer(SIGN_IN, query, component="identification", uid_field=ada.username)
    back = await browser.answer(SIGN_IN, query, component="password", password=ada.password)

    assert to.startswith(f"/flows/{SIGN_IN}/?")
    assert query["again"] == "true"
    assert unmoved.startswith(f"/flows/{SIGN_IN}/?")
    assert path_of(forged).startswith(f"/flows/{SIGN_IN}/?")
    assert asked["component"] == "identification"
    assert browser.http.cookies["kith_session"] != old
    told = told_to(await browser.http.get(back["to"]))
    code, grant = await found(town, told["code"])
    assert grant.auth_time is not None
    assert grant.created_at - grant.auth_time < timedelta(seconds=60)
    assert code.redirect_uri == BACK


async def test_a_sign_in_that_is_young_enough_counts(town: Town) -> None:
    client, browser = await make_client(town, require_consent=False), await signed_in(town)

    assert "code" in told_to(await enter(browser, client, max_age="3600", prompt="none"))
    assert told_to(await enter(browser, client, max_age="0", prompt="none"))["error"] == "login_required"


async def test_a_provider_has_its_own_way_to_sign_in(town: Town) -> None:
    owner = await owner_of(town)
    own = await make_flow(owner, "authentication", authentication="none")
    await make_binding(owner, own, await make_stage(owner, "dummy"))
    client = await make_client(town, authentication_flow=own["pk"])

    assert path_of(await enter(Browser(town), client)).startswith(f"/flows/{own['slug']}/?next=")


# Who may


async def test_the_applications_policies_say_who_may_enter(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    client, browser = await make_client(town, require_consent=False), await signed_in(town, ada)
    words = (
        "context = request.context\n"
        'if context["oauth_scopes"] == ["openid"] and context["oauth_redirect_uri"] and '
        'context["oauth_response_type"] == "code" and context["oauth_grant_type"] == "authorization_code":\n'
        "    return True\n"
        'ak_message("Only for those who ask for little.")\n'
        "return False"
    )
    policy = await make(owner, "/policies/expression/", name=new_name("who"), expression=words)
    await make(owner, "/policies/bindings/", policy=policy["pk"], target=client.application["pk"], order=0)

    let_in = await enter(browser, client, scope="openid")
    refused = await enter(browser, client)
    silent = await enter(browser, client, prompt="none")

    assert "code" in told_to(let_in)
    assert refused.status_code == 403
    assert "Only for those who ask for little." in refused.text
    assert told_to(silent)["error"] == "access_denied"
    event = (await events(town, ada, "authorization_refused"))[0]
    assert event["context"]["authorized_application"]["name"] == f"The {client.slug}"
    assert "Only for those" in event["context"]["reason"]


async def test_a_provider_without_an_application_lets_nobody_in(town: Town) -> None:
    client, browser = await make_client(town, application=False, require_consent=False), await signed_in(town)

    assert (await enter(browser, client)).status_code == 403
    assert told_to(await enter(browser, client, prompt="none"))["error"] == "access_denied"


async def test_who_may_not_act_lets_nothing_in(strict: Town) -> None:
    town = strict
    clients = [await make_app(town), await make_client(town, require_consent=False)]
    for column, value, words in (
        ("confirmed_at", None, "confirm your e-mail"),
        ("approved_at", None, "approved"),
        ("is_active", False, ""),
    ):
        ada = await town.sign_up()
        browser = await signed_in(town, ada)
        async with town.house() as house, house.works.begin() as work:
            user = await users.find(work.db, ada.username)
            assert user is not None
            await users.change(work.db, user.id, column, value, work.now)
        for client in clients:
            answer = await enter(browser, client)
            silent = told_to(await enter(browser, client, prompt="none"))
            if words:
                assert (answer.status_code, words in answer.text) == (403, True)
            else:
                assert path_of(answer).startswith(f"/flows/{SIGN_IN}/")
            assert silent["error"] == ("access_denied" if words else "login_required")


# Answers that hold more than a code


@pytest.mark.parametrize(
    ("response_type", "names"),
    [
        ("id_token", {"id_token"}),
        ("token id_token", {"id_token", "access_token", "token_type", "expires_in", "scope"}),
        ("code token", {"code", "access_token", "token_type", "expires_in", "scope"}),
        ("code id_token", {"code", "id_token"}),
        ("code id_token token", {"code", "id_token", "access_token", "token_type", "expires_in", "scope"}),
    ],
)
async def test_tokens_come_in_the_fragment_and_only_where_the_record_says_so(
    town: Town, response_type: str, names: set[str]
) -> None:
    types = ["id_token", "id_token token", "code token", "code id_token", "code id_token token"]
    client, browser = await make_client(town, response_types=types, require_consent=False), await signed_in(town)
    asked = {"response_type": response_type, "scope": "openid offline_access", **NONCE}

    answer = await enter(browser, client, **asked)
    by_query = await enter(browser, client, **asked, response_mode="query")
    page = await enter(browser, client, **asked, response_mode="form_post")

    assert answer.headers["location"].startswith(f"{BACK}#")
    told = told_to(answer)
    assert set(told) == names | {"state", "iss"}
    if "scope" in names:
        assert told["scope"] == ("openid offline_access" if "code" in names else "openid")
    if "id_token" in names:
        async with town.house() as house, house.works.begin() as work:
            found = await find_client(work, client.client_id)
            assert found is not None
            claims = await keys.verify(work, found, told["id_token"])
        assert (claims["nonce"], "c_hash" in claims) == ("n-1", "code" in names)
        assert ("at_hash" in claims) is ("access_token" in names)
    assert (by_query.headers["location"].startswith(f"{BACK}#"), told_to(by_query)["error"]) == (
        True,
        "invalid_request",
    )
    assert names | {"state", "iss"} == set(fields_of(page))


def main_of(page: httpx.Response) -> str:
    return page.text.partition("<main")[2].partition("</main>")[0]


def fields_of(page: httpx.Response) -> dict[str, str]:
    assert page.status_code == 200, page.text
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', main_of(page))
    return {unescape(name): unescape(value) for name, value in found}


async def test_a_form_carries_the_answer_to_where_it_may_and_nothing_in_it_is_run(town: Town) -> None:
    client, browser = await make_client(town, require_consent=False), await signed_in(town)
    state = '"><script>alert(1)</script>'

    page = await enter(browser, client, response_mode="form_post", state=state)
    error = await enter(browser, client, response_mode="form_post", state=state, max_age="x")

    for one in (page, error):
        policy = one.headers["content-security-policy"]
        assert "form-action https://app.example https:;" in policy
        assert "default-src 'none'" in policy
        assert "<script>" not in one.text
        assert fields_of(one)["state"] == state
        assert one.headers["cache-control"] == "no-store"
        assert f'action="{BACK}"' in one.text
    assert "code" in fields_of(page)
    assert fields_of(error)["error"] == "invalid_request"


async def test_plain_oauth_has_what_its_mappings_know_and_tokens_only_for_implicit(town: Town) -> None:
    owner, browser = await owner_of(town), await signed_in(town)
    scope = new_name("wiki")
    mapping = await make(
        owner,
        "/propertymappings/scope/",
        name=scope,
        scope_name=scope,
        description="Read the wiki",
        expression="return {}",
    )
    client = await make_client(town, kind="oauth", property_mappings=[mapping["pk"]])
    implicit = await make_client(town, kind="oauth", authorization_grant_type="implicit", client_type="public")

    assert path_of(await enter(browser, client, scope=f"{scope} write"))
    permissions = (await browser.see(CONSENT))["permissions"]
    assert [(one["id"], one["name"]) for one in permissions] == [(scope, "Read the wiki")]
    assert told_to(await enter(browser, client, response_type="token"))["error"] == "unauthorized_client"
    assert path_of(await enter(browser, implicit, response_type="token"))
    told = told_to(await browser.http.get(await agree(browser)))
    assert {"access_token", "token_type"} <= set(told)


# Requests that are kept


async def test_a_request_may_come_as_a_form_or_be_too_long_to_carry(town: Town) -> None:
    client, ada, browser = await make_client(town, reuse_consent=False), await town.sign_up(), Browser(town)
    state = "s" * 3000

    by_form = path_of(await browser.http.post(AUTHORIZE, data=client.ask(state=state)))
    next_of_form = query_of(path_of(await browser.http.get(by_form)))["next"]
    next_of_link = query_of(path_of(await enter(browser, client, state=state)))["next"]
    await browser.sign_in(ada)

    assert set(query_of(by_form)) == {"client_id", "request_uri"}
    assert next_of_form == by_form
    assert len(next_of_link) < 500
    for way in (next_of_form, next_of_link):
        assert path_of(await browser.http.get(way)).startswith("/flows/")
        assert told_to(await browser.http.get(await agree(browser)))["state"] == state
        assert (await browser.http.get(way)).status_code == 400


async def push(town: Town, client: Registered, **more: str) -> httpx.Response:
    sent = client.ask(**more)
    return await town.http.post("/application/o/par/", data=sent, auth=(client.client_id, client.secret))


async def test_a_request_that_was_handed_in_is_used_once_and_by_its_own_client(town: Town) -> None:
    client, other = await make_client(town, require_consent=False), await make_client(town)
    browser = await signed_in(town)

    pushed = await push(town, client)
    stolen = (await push(town, client)).json()["request_uri"]
    uri = pushed.json()["request_uri"]
    by_other = await browser.http.get(f"{AUTHORIZE}?{urlencode({'client_id': other.client_id, 'request_uri': stolen})}")
    used = {"client_id": client.client_id, "request_uri": uri, "redirect_uri": "https://evil.example", "scope": "x"}
    answer = await browser.http.get(f"{AUTHORIZE}?{urlencode(used)}")
    again = await browser.http.get(f"{AUTHORIZE}?{urlencode(used)}")

    assert pushed.status_code == 201
    assert uri.startswith("urn:ietf:params:oauth:request_uri:")
    assert 60 <= pushed.json()["expires_in"] <= 90
    assert pushed.headers["cache-control"] == "no-store"
    assert by_other.status_code == 400
    code, grant = await found(town, told_to(answer)["code"])
    assert (code.redirect_uri, grant.scopes) == (BACK, "openid email")
    assert again.status_code == 400


async def test_a_request_that_was_handed_in_waits_for_somebody_to_sign_in_but_not_long_to_be_used(town: Town) -> None:
    client, ada = await make_client(town), await town.sign_up()
    browser = Browser(town)
    named = {"client_id": client.client_id, "request_uri": (await push(town, client)).json()["request_uri"]}
    late = named | {"request_uri": (await push(town, client)).json()["request_uri"]}

    to = path_of(await browser.http.get(f"{AUTHORIZE}?{urlencode(named)}"))
    await browser.sign_in(ada)
    assert path_of(await browser.http.get(query_of(to)["next"])) == f"/flows/{CONSENT}/"
    assert "code" in told_to(await browser.http.get(await agree(browser)))
    async with town.house() as house, house.works.begin() as work:
        key = late["request_uri"].rpartition(":")[2]
        await work.db.run(
            command(text("UPDATE identity_oauth_requests SET expires_at = :then WHERE request_hash = :hash")),
            then=(work.now - timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            if town.engine == "sqlite"
            else work.now - timedelta(seconds=1),
            hash=hash_key(key),
        )
    assert (await browser.http.get(f"{AUTHORIZE}?{urlencode(late)}")).status_code == 400


@pytest.mark.parametrize(
    ("more", "secret", "status", "error"),
    [
        ({}, "wrong", 401, "invalid_client"),
        ({"redirect_uri": "https://evil.example/"}, "", 400, "invalid_request"),
        ({"request_uri": "urn:ietf:params:oauth:request_uri:x"}, "", 400, "invalid_request"),
        ({"response_type": "token"}, "", 400, "unauthorized_client"),
        ({"code_challenge": "short", "code_challenge_method": "S256"}, "", 400, "invalid_request"),
    ],
)
async def test_what_cannot_be_handed_in(town: Town, more: dict[str, str], secret: str, status: int, error: str) -> None:
    client = await one_of(town, "code")
    auth = (client.client_id, secret or client.secret)

    answer = await town.http.post("/application/o/par/", data=client.ask(**more), auth=auth)

    assert (answer.status_code, answer.json()["error"]) == (status, error)


async def test_an_app_of_the_social_half_hands_nothing_in(town: Town) -> None:
    assert (await push(town, await make_app(town))).json()["error"] == "invalid_client"


# Apps of the social half


async def answer_page(browser: Browser, page: httpx.Response, **more: str) -> httpx.Response:
    fields = fields_of(page)
    fields.pop("_method", None)
    return await browser.http.post(SOCIAL, data=fields | more)


async def test_an_app_asks_for_itself_and_is_answered_by_a_plain_form(town: Town) -> None:
    ada = await town.sign_up()
    app, browser = await make_app(town), Browser(town)

    to = path_of(await enter(browser, app, scope="read write:statuses"))
    await browser.sign_in(ada)
    page = await browser.http.get(query_of(to)["next"])
    allowed = await answer_page(browser, page)
    denied = await answer_page(browser, page, _method="delete")
    fields = fields_of(page)
    deleted = await browser.http.delete(
        f"{SOCIAL}?{urlencode({name: value for name, value in fields.items() if name not in ('csrf', '_method')})}",
        headers={"X-CSRF-Token": fields["csrf"]},
    )
    without = await answer_page(browser, page, csrf="x")
    silent = await enter(browser, app, prompt="none")

    assert page.status_code == 200
    for words in (
        "tusk-",
        "https://t.example",
        "Read everything",
        "Post, edit and delete",
        ada.username,
        "https://app",
    ):
        assert words in page.text
    assert "form-action 'self' https://app.example https:;" in page.headers["content-security-policy"]
    told = told_to(allowed)
    assert set(told) == {"code", "state", "iss"}
    assert (told["state"], told["iss"]) == ("s t&ate", f"{town.base_url}/")
    code, grant = await found(town, told["code"])
    assert (grant.scopes, grant.provider_id, grant.app_id is not None) == ("read write:statuses", None, True)
    assert code.expires_at > grant.created_at
    for no in (denied, deleted):
        assert (told_to(no)["error"], told_to(no)["state"]) == ("access_denied", "s t&ate")
    assert without.status_code == 403
    assert told_to(silent)["error"] == "consent_required"
    [event] = await events(town, ada, "authorize_application")
    assert event["context"]["authorized_application"]["model_name"] == "app"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"scope": "read follow"}, "invalid_scope"),
        ({"scope": "read admin:read"}, "invalid_scope"),
        ({"scope": "openid"}, "invalid_scope"),
        ({"scope": "bread"}, "invalid_scope"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "id_token", **NONCE}, "unsupported_response_type"),
        ({"code_challenge": S256, "code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": S256}, "invalid_request"),
    ],
)
async def test_what_an_app_must_not_ask(town: Town, more: dict[str, str], error: str) -> None:
    told = told_to(await enter(Browser(town), await one_of(town, "social"), **more))

    assert (told["error"], told["state"]) == (error, "s t&ate")


async def test_a_code_is_shown_where_nobody_can_be_sent_back(town: Town) -> None:
    oob = "urn:ietf:wg:oauth:2.0:oob"
    app, browser = await make_app(town, uris=(oob,)), await signed_in(town)
    page = await enter(browser, app, redirect_uri=oob)

    to = path_of(await answer_page(browser, page))
    shown = await browser.http.get(to)
    denied = await answer_page(browser, page, _method="delete")

    assert to.startswith("/oauth/authorize/native?code=")
    code = query_of(to)["code"]
    assert f'value="{code}"' in shown.text
    assert (await found(town, code))[0].redirect_uri == oob
    assert (denied.status_code, "access_denied" in denied.text) == (403, True)
    assert (await browser.http.get("/oauth/authorize/native?code=<b>")).status_code == 404


async def test_an_app_can_have_people_sign_in_anew_and_people_can_be_somebody_else(town: Town) -> None:
    app, ada, eve = await make_app(town), await town.sign_up(), await town.sign_up()
    browser = await signed_in(town, ada)

    to = path_of(await enter(browser, app, force_login="true"))
    page = await enter(browser, app)
    switch = re.search(r'<a href="(/flows/-/default/authentication/[^"]+)"', page.text)
    assert switch is not None
    query = query_of(unescape(switch[1]))
    await browser.see(SIGN_IN, **query)
    await browser.answer(SIGN_IN, query, component="identification", uid_field=eve.username)
    back = await browser.answer(SIGN_IN, query, component="password", password=eve.password)
    as_eve = await browser.http.get(back["to"])

    assert query_of(to)["again"] == "true"
    assert f"signed in as {eve.username}" in as_eve.text
    assert "code" in told_to(await answer_page(browser, as_eve))


async def test_an_app_of_our_own_does_not_ask(town: Town) -> None:
    app, browser = await make_app(town), await signed_in(town)
    async with town.house() as house, house.works.begin() as work:
        found = await find_client(work, app.client_id)
        assert found is not None
        await work.db.run(
            command(text("UPDATE identity_oauth_apps SET trusted = :yes WHERE client_id = :id")),
            yes=True,
            id=app.client_id,
        )

    assert "code" in told_to(await enter(browser, app))
    assert (await enter(browser, app, prompt="consent")).status_code == 200


async def register_at(town: Town, client: Registered) -> str:
    """A client of somebody's own, at this one's provider."""
    async with town.house() as house, house.works.begin() as work:
        app = App(
            id=work.new_id(),
            client_id=f"dyn-{new_name('x')}",
            secret_hash=None,
            kind="dynamic",
            provider_id=client.provider["pk"],
            name="Somebody's own",
            website=None,
            redirect_uris=BACK,
            scopes="openid email",
            grant_types="authorization_code",
            auth_method="none",
            jwks={},
            trusted=False,
            created_at=work.now,
        )
        await store.insert_app(work.db, app)
        return app.client_id


@pytest.mark.parametrize(
    ("chosen", "is_kept"), [({"require_consent": False}, True), ({}, True), ({"reuse_consent": False}, False)]
)
async def test_a_client_that_registered_itself_at_a_provider_is_asked_about_as_the_provider_says(
    town: Town, chosen: dict[str, Any], is_kept: bool
) -> None:
    client, person = await make_client(town, **chosen), await town.sign_up()
    browser = await signed_in(town, person)
    dynamic = Registered(await register_at(town, client), "", client.slug)

    more = {"code_challenge": S256, "code_challenge_method": "S256"}
    assert told_to(await enter(browser, dynamic, prompt="none", **more))["error"] == "consent_required"
    assert path_of(await enter(browser, dynamic, **more)) == f"/flows/{CONSENT}/"
    assert (await browser.see(CONSENT))["application"] == "Somebody's own"
    assert "code" in told_to(await browser.http.get(await agree(browser)))
    again = told_to(await enter(browser, dynamic, prompt="none", **more))
    assert ("code" in again, again.get("error")) == ((True, None) if is_kept else (False, "consent_required"))
    wider = told_to(await enter(browser, dynamic, prompt="none", **more | {"scope": "openid"}))
    assert ("code" in wider) is is_kept
    # What was agreed to is the client's alone: neither the application's own nor another's.
    for other in (client, Registered(await register_at(town, client), "", client.slug)):
        told = told_to(await enter(browser, other, prompt="none", **more))
        expected = None if other is client and "require_consent" in chosen else "consent_required"
        assert told.get("error") == expected
    assert [one["application_name"] for one in await results(person, "/core/user_consent/")] == (
        ["Somebody's own"] if is_kept else []
    )


# What was let in, and taking it back


async def spend(town: Town, client: Registered, code: str) -> httpx.Response:
    sent = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": BACK,
        "client_id": client.client_id,
        "client_secret": client.secret,
    }
    return await town.http.post("/application/o/token/" if client.slug else "/oauth/token", data=sent)


async def test_what_was_let_in_is_listed_and_can_be_taken_back(town: Town) -> None:
    app, client, ada = await make_app(town), await make_client(town), await town.sign_up()
    browser, here = await signed_in(town, ada), "/oauth/authorized_applications"
    empty = await browser.http.get(here)
    code = told_to(await answer_page(browser, await enter(browser, app)))["code"]
    unspent = (await browser.http.get(here)).text
    token = (await spend(town, app, code)).json()["access_token"]
    await enter(browser, client)
    code = told_to(await browser.http.get(await agree(browser)))["code"]
    assert (await spend(town, client, code)).status_code == 200
    listed = (await browser.http.get(here)).text
    ways = re.findall(rf'action="({here}/[^"]+)"', listed)
    token_of_page = {"csrf": browser.http.cookies["kith_csrf"]}

    foreign = await (await signed_in(town)).http.post(ways[0], data=token_of_page)
    forged = await browser.http.post(ways[0], data={"csrf": "x"})
    first = await browser.http.post(ways[0], data=token_of_page | {"_method": "delete"})
    second = await browser.http.delete(ways[1], headers={"X-CSRF-Token": token_of_page["csrf"]})

    assert "You have not authorized any applications." in empty.text
    assert "You have not authorized any applications." in unspent
    assert len(ways) == 2
    assert "tusk-" in listed
    assert f"The {client.slug}" in listed
    assert "See your e-mail address" in listed
    assert (foreign.status_code, forged.status_code) == (403, 403)
    assert (first.status_code, second.status_code) == (303, 303)
    assert "You have not authorized any applications." in (await browser.http.get(here)).text
    async with town.house() as house, house.works.begin() as work:
        assert await store.find_bearer(work.db, hash_key(token)) is None
    assert len(await events(town, ada, "revoke_token")) == 2
    # They are asked again, for what they agreed to was forgotten with it.
    assert path_of(await enter(browser, client)) == f"/flows/{CONSENT}/"
    assert (await Browser(town).http.get(here)).status_code == 303


# Devices


async def test_a_device_is_let_in_by_its_code_and_a_second_look(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    client, browser = await make_client(town), await signed_in(town, ada)

    async def start() -> str:
        answer = await town.http.post(
            "/application/o/device/", data={"scope": "openid email"}, auth=(client.client_id, client.secret)
        )
        assert answer.status_code == 200, answer.text
        return str(answer.json()["user_code"])

    async def send(code: str, **more: str) -> httpx.Response:
        return await browser.http.post("/device", data={"csrf": csrf, "code": code, **more})

    code, other = await start(), await start()
    to_sign_in = await Browser(town).http.get(f"/device?code={code}")
    page = await browser.http.get(f"/device?code={code}")
    csrf = fields_of(page)["csrf"]
    shown = await send(code.lower())
    wrong = await send("WRNG-CODE", answer="allow")
    forged = await browser.http.post("/device", data={"csrf": "x", "code": code, "answer": "allow"})
    allowed = await send(code, answer="allow")
    again = await send(code, answer="allow")
    denied = await send(other, answer="deny")
    policy = await make(owner, "/policies/dummy/", name=new_name("no"), result=False, wait_min=0, wait_max=0)
    await make(owner, "/policies/bindings/", policy=policy["pk"], target=client.application["pk"], order=0)
    refused = await send(await start(), answer="allow")

    assert to_sign_in.status_code == 303
    assert query_of(to_sign_in.headers["location"])["next"] == f"/device?code={code}"
    assert f'value="{code}"' in page.text
    for words in (f"The {client.slug}", "See your e-mail address", "Only continue"):
        assert words in shown.text
    assert (wrong.status_code, "not valid" in wrong.text) == (400, True)
    assert (forged.status_code, again.status_code, refused.status_code) == (403, 400, 403)
    assert "Your device is connected" in allowed.text
    assert "Access denied" in denied.text
    assert len(await results(owner, "/audit/events/", action="authorize_application", search=client.client_id)) == 1


async def test_codes_of_devices_cannot_be_guessed(strict: Town) -> None:
    browser = await signed_in(strict)
    csrf = fields_of(await browser.http.get("/device"))["csrf"]

    statuses = [
        (await browser.http.post("/device", data={"csrf": csrf, "code": "BCDF-BCDF"})).status_code for _ in range(12)
    ]

    assert set(statuses[:10]) == {400}
    assert statuses[-1] == 429


# Records


async def test_patterns_are_checked_when_they_are_saved_and_only_then_used(town: Town) -> None:
    owner = await owner_of(town)
    pattern = r"https://[a-z]+\.app\.example/back"
    client = await make_client(town, redirect_uri_matching="regex", _redirect_uris=pattern, require_consent=False)
    item = f"{API}/providers/openid/{client.provider['pk']}/"
    browser = await signed_in(town)

    for wrong in (r"https://(a+)+", r".*", r"https://a|javascript:b", "javascript:.*", "https://("):
        answer = await owner.call("PATCH", item, json={"_redirect_uris": wrong})
        assert (answer.status_code, list(answer.json())) == (400, ["_redirect_uris"]), wrong
    literal = await owner.call("PATCH", item, json={"redirect_uri_matching": "strict"})

    assert literal.status_code == 400
    eu = "https://eu.app.example/back"
    assert "code" in told_to(await enter(browser, client, redirect_uri=eu), eu)
    assert (await enter(browser, client, redirect_uri="https://eu.app.example/back/x")).status_code == 400
    assert (await enter(browser, client, redirect_uri=pattern)).status_code == 400
