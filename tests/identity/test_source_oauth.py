"""Signing in with an account elsewhere: a second server is the OpenID provider, or the fediverse."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from kith.base.db import UID, command
from kith.identity.sources.family import sources
from kith.identity.sources.kinds.oauth import oauth_sources
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.identity.source_towns import Pair, asked, begin, come_in, consent
from tests.town import build_town
from tests.town.town import Engine

LINKS = {"user_matching_mode": ("username_link", "email_link"), "group_matching_mode": ("name_link",)}


@pytest.fixture(scope="module")
async def pair(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    hosts = "127.0.0.1"
    async with (
        build_town(engine, tmp_path_factory.mktemp("here"), private_hosts=hosts) as here,
        build_town(engine, tmp_path_factory.mktemp("there"), private_hosts=hosts) as there,
    ):
        yield Pair(here, there)


async def connections(pair: Pair, **query: Any) -> list[dict[str, Any]]:
    return await results(await owner_of(pair.here), "/sources/user_connections/oauth/", **query)


async def test_a_discovery_document_fills_in_what_a_source_needs(pair: Pair) -> None:
    source, party = await pair.openid_source()

    assert source["authorization_url"] == f"{pair.there.base_url}/application/o/authorize/"
    assert source["access_token_url"] == f"{pair.there.base_url}/application/o/token/"
    assert source["oidc_issuer"] == party.issuer
    assert source["oidc_jwks"]["keys"]
    assert source["backchannel_logout_url"] == f"{pair.here.base_url}/source/oauth/logout/{source['slug']}/"


async def test_somebody_new_signs_up_and_comes_back_as_the_same_person(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    ada, there = await pair.known()
    here, later = Browser(pair.here), Browser(pair.here)

    first = await come_in(here, there, source, next="/settings/security")
    again = await come_in(later, there, source)

    assert first.status_code == 302, first.text
    assert first.headers["location"] == "/settings/security"
    assert await here.who() == await later.who() == ada.username
    assert again.headers["location"] == "/"
    [made] = await results(await owner_of(pair.here), "/core/users/", username=ada.username)
    assert made["email"] == f"{ada.username}@example.org"
    assert made["path"] == f"sources/{source['slug']}"
    assert [one["source"] for one in await connections(pair, user=made["pk"])] == [source["pk"]]


async def test_the_service_is_asked_as_the_standards_want(pair: Pair) -> None:
    source, party = await pair.openid_source()

    address = await begin(Browser(pair.here), source)

    told = asked(address)
    assert address.startswith(f"{pair.there.base_url}/application/o/authorize/?")
    assert told["client_id"] == party.id
    assert told["redirect_uri"] == source["callback_url"]
    assert told["scope"] == "openid profile email"
    assert told["code_challenge_method"] == "S256"
    assert len(told["state"]) >= 32
    assert len(told["nonce"]) >= 32


async def test_a_name_that_is_taken_here_is_asked_for(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    ada, there = await pair.known()
    await pair.here.sign_up(ada.username)
    here = Browser(pair.here)

    answer = await come_in(here, there, source)
    assert answer.headers["location"] == "/flows/default-source-enrollment/"
    shown = await here.see("default-source-enrollment")
    done = await here.answer("default-source-enrollment", component="prompt", username=f"{ada.username}2")

    assert shown["component"] == "prompt"
    assert done["component"] == "redirect"
    assert await here.who() == f"{ada.username}2"


async def test_the_shipped_flows_are_for_those_who_come_from_a_source(pair: Pair) -> None:
    browser = Browser(pair.here)

    for slug in ("default-source-enrollment", "default-source-authentication"):
        assert (await browser.see(slug))["component"] == "access-denied"


async def test_without_an_enrolment_flow_nobody_new_comes_in(pair: Pair) -> None:
    source, _ = await pair.openid_source(enrollment_flow=None)
    _, there = await pair.known()
    here = Browser(pair.here)

    answer = await come_in(here, there, source)

    assert answer.status_code == 400
    assert "Source is not configured for enrollment." in answer.text
    assert await here.who() is None


@pytest.mark.parametrize(
    ("mode", "enters_as"),
    [
        ("identifier", "new"),
        ("email_link", "known"),
        ("email_deny", None),
        ("username_link", "known"),
        ("username_deny", None),
    ],
)
async def test_whom_somebody_unknown_is_taken_for(pair: Pair, mode: str, enters_as: str | None) -> None:
    source, _ = await pair.openid_source(user_matching_mode=mode)
    ada, there = await pair.known()
    await pair.here.sign_up(ada.username)  # the same name and address
    here = Browser(pair.here)

    answer = await come_in(here, there, source)

    if enters_as == "known":
        assert await here.who() == ada.username
    elif enters_as == "new":
        assert answer.headers["location"] == "/flows/default-source-enrollment/"
    else:
        assert answer.status_code == 403
        assert "You have an account here already." in answer.text
        assert await here.who() is None


async def test_an_address_that_nobody_has_confirmed_links_nobody(pair: Pair) -> None:
    """Whoever writes somebody's address into an account elsewhere does not become them here."""
    victim = await pair.here.sign_up()
    mallory, there = await pair.known()
    [account] = await results(await owner_of(pair.there), "/core/users/", username=mallory.username)
    scope = await make(
        await owner_of(pair.there),
        "/propertymappings/scope/",
        name=new_name("liar"),
        scope_name="email",
        expression=f'return {{"email": "{victim.username}@example.org", "email_verified": False}}',
    )
    source, party = await pair.openid_source(user_matching_mode="email_link")
    mapped = party.provider.get("property_mappings", [])
    changed = await (await owner_of(pair.there)).call(
        "PATCH", f"{API}/providers/openid/{party.provider['pk']}/", json={"property_mappings": [*mapped, scope["pk"]]}
    )
    assert changed.status_code == 200, changed.text
    here = Browser(pair.here)

    answer = await come_in(here, there, source)

    assert account["username"] == mallory.username
    assert answer.status_code == 403
    assert await here.who() is None


@pytest.mark.parametrize("end", ["nothing", "disabled", "deleted", "unlinked", "refused"])
async def test_whoever_is_on_the_way_in_is_let_in_only_if_the_source_still_does(pair: Pair, end: str) -> None:
    owner = await owner_of(pair.here)
    flow = await make_flow(owner, "authentication")
    for order, stage in enumerate((await make_stage(owner, "dummy"), await make_stage(owner, "user_login"))):
        await make_binding(owner, flow, stage, order=order)
    source, _ = await pair.openid_source(authentication_flow=flow["pk"])
    ada, there = await pair.known()
    await come_in(Browser(pair.here), there, source)
    waiting, path = Browser(pair.here), f"{API}/sources/oauth/{source['pk']}/"
    came = await come_in(waiting, there, source)
    assert came.headers["location"] == f"/flows/{flow['slug']}/"
    await waiting.see(flow["slug"])

    [linked] = await connections(pair, source=source["pk"])
    no = await make(owner, "/policies/dummy/", name=new_name("no"), result=False, wait_min=0, wait_max=0)
    match end:
        case "disabled":
            await owner.call("PATCH", path, json={"enabled": False})
        case "deleted":
            await owner.call("DELETE", path)
        case "unlinked":
            await owner.call("DELETE", f"{API}/sources/user_connections/oauth/{linked['pk']}/")
        case "refused":
            await make(owner, "/policies/bindings/", policy=no["pk"], target=source["pk"], order=0)
    told = await waiting.answer(flow["slug"], component="dummy")

    assert told["component"] == ("redirect" if end == "nothing" else "access-denied")
    assert await waiting.who() == (ada.username if end == "nothing" else None)
    kept = {"nothing": 1, "disabled": 1, "refused": 1}.get(end, 0)
    assert len(await connections(pair, user=linked["user"])) == kept


async def test_linking_and_unlinking_at_the_settings(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    _, there = await pair.known()
    bob = await pair.here.sign_up()
    here = Browser(pair.here)
    await here.sign_in(bob)

    asks = await here.http.get(f"/source/oauth/login/{source['slug']}/")
    csrf = here.http.cookies.get("kith_csrf") or ""
    unproven = await here.http.post(f"/source/oauth/login/{source['slug']}/", data={"csrf": "x"})
    sent = await here.http.post(f"/source/oauth/login/{source['slug']}/", data={"csrf": csrf})
    address = sent.text.partition('content="0;url=')[2].partition('"')[0].replace("&amp;", "&")
    linked = await here.http.get(await consent(there, address))
    page = await here.http.get("/settings/security")
    fresh = Browser(pair.here)
    await come_in(fresh, there, source)

    assert asks.status_code == 200  # a link elsewhere is not enough
    assert unproven.status_code == 403
    assert linked.headers["location"] == "/settings/security#sources"
    assert source["name"] in page.text
    assert await fresh.who() == bob.username
    [user] = await results(await owner_of(pair.here), "/core/users/", username=bob.username)
    [connection] = await connections(pair, user=user["pk"])
    unlinked = await here.http.post(
        f"/settings/security/sources/{connection['pk']}/unlink", data={"csrf": here.http.cookies.get("kith_csrf")}
    )
    assert unlinked.status_code == 303
    assert await connections(pair, user=user["pk"]) == []
    actions = {
        one["action"] for one in await results(await owner_of(pair.here), "/audit/events/", username=bob.username)
    }
    assert {"source_linked", "source_unlinked"} <= actions


async def test_an_account_elsewhere_is_linked_to_one_person(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    ada, there = await pair.known()
    await come_in(Browser(pair.here), there, source)
    bob = await pair.here.sign_up()
    here = Browser(pair.here)
    await here.sign_in(bob)
    await here.http.get(f"/source/oauth/login/{source['slug']}/")

    sent = await here.http.post(
        f"/source/oauth/login/{source['slug']}/", data={"csrf": here.http.cookies.get("kith_csrf")}
    )
    address = sent.text.partition('content="0;url=')[2].partition('"')[0].replace("&amp;", "&")
    answer = await here.http.get(await consent(there, address))

    assert answer.status_code == 403
    assert "linked to another person" in answer.text
    assert await here.who() == bob.username
    assert ada.username != bob.username


async def test_who_has_no_other_way_in_keeps_the_last_one(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    ada, there = await pair.known()
    here = Browser(pair.here)
    await come_in(here, there, source)
    [user] = await results(await owner_of(pair.here), "/core/users/", username=ada.username)
    [connection] = await connections(pair, user=user["pk"])
    await here.http.get("/settings/security")

    answer = await here.http.post(
        f"/settings/security/sources/{connection['pk']}/unlink", data={"csrf": here.http.cookies.get("kith_csrf")}
    )

    assert answer.status_code == 409
    assert len(await connections(pair, user=user["pk"])) == 1


# What must not work


async def test_an_answer_counts_once_for_the_browser_and_the_source_it_was_made_for(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    other, _ = await pair.openid_source()
    _, there = await pair.known()
    here, stranger = Browser(pair.here), Browser(pair.here)
    back = await consent(there, await begin(here, source))
    await begin(stranger, source)

    elsewhere = await here.http.get(back.replace(source["slug"], other["slug"]))  # mix-up
    fixed = await stranger.http.get(back)  # a state put into somebody else's browser
    no_cookie = await pair.here.http.get(back)
    right = await here.http.get(back)
    twice = await here.http.get(back)

    for refused in (elsewhere, fixed, no_cookie, twice):
        assert refused.status_code == 400
        assert "State check failed." in refused.text
    assert right.status_code == 302


async def test_what_the_service_refuses_is_said(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    here = Browser(pair.here)
    state = asked(await begin(here, source))["state"]

    answer = await here.http.get(
        f"/source/oauth/callback/{source['slug']}/",
        params={"state": state, "error": "access_denied", "error_description": "They <b>said</b> no."},
    )

    assert answer.status_code == 400
    assert "They &lt;b&gt;said&lt;/b&gt; no." in answer.text


async def test_a_disabled_source_is_not_there(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    await (await owner_of(pair.here)).call("PATCH", f"{API}/sources/oauth/{source['pk']}/", json={"enabled": False})

    for place in ("login", "callback"):
        assert (await pair.here.http.get(f"/source/oauth/{place}/{source['slug']}/")).status_code == 404


async def test_the_policies_of_a_source_decide_whom_to_admit(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    owner = await owner_of(pair.here)
    ada, there = await pair.known()
    _, elsewhere = await pair.known()
    policy = await make(
        owner,
        "/policies/expression/",
        name=new_name("only"),
        expression=f'return context["oauth_userinfo"]["preferred_username"] == "{ada.username}"',
    )
    await make(owner, "/policies/bindings/", policy=policy["pk"], target=source["pk"], order=0)
    here, stranger = Browser(pair.here), Browser(pair.here)

    admitted = await come_in(here, there, source)
    refused = await come_in(stranger, elsewhere, source)

    assert admitted.status_code == 302
    assert refused.status_code == 403
    assert f"This server does not admit you through {source['name']}." in refused.text
    assert await stranger.who() is None


async def groups_of(pair: Pair, user: dict[str, Any]) -> set[str]:
    owner = await owner_of(pair.here)
    told = (await owner.get(f"{API}/core/users/{user['pk']}/")).json()
    return {one["name"] for one in await results(owner, "/core/groups/") if one["pk"] in told["groups"]}


async def test_groups_come_along_and_go_again(pair: Pair) -> None:
    source, _ = await pair.openid_source(additional_scopes="groups")
    owner, there_owner = await owner_of(pair.here), await owner_of(pair.there)
    ada, there = await pair.known()
    [account] = await results(there_owner, "/core/users/", username=ada.username)
    group = await make(there_owner, "/core/groups/", name=new_name("crew"))
    await there_owner.call("PATCH", f"{API}/core/users/{account['pk']}/", json={"groups": [group["pk"]]})
    own = await make(owner, "/core/groups/", name=new_name("own"))
    here, later = Browser(pair.here), Browser(pair.here)

    await come_in(here, there, source)
    [user] = await results(owner, "/core/users/", username=ada.username)
    await owner.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"groups": [*user["groups"], own["pk"]]})
    before = await groups_of(pair, user)
    await there_owner.call("PATCH", f"{API}/core/users/{account['pk']}/", json={"groups": []})
    await come_in(later, there, source)
    after = await groups_of(pair, user)

    assert before == {group["name"], own["name"]}
    assert after == {own["name"]}


async def test_mappings_say_who_somebody_is(pair: Pair) -> None:
    owner = await owner_of(pair.here)
    body = """return {
        "username": "the_" + info["preferred_username"],
        "attributes": {"kind": client["provider_type"], "sub": token["sub"], "from": source["slug"], "as": properties},
    }"""
    mapping = await make(owner, "/propertymappings/source/oauth/", name=new_name("m"), expression=body)
    source, party = await pair.openid_source(user_property_mappings=[mapping["pk"]])
    ada, there = await pair.known()
    here = Browser(pair.here)

    await come_in(here, there, source)

    assert await here.who() == f"the_{ada.username}"
    [user] = await results(owner, "/core/users/", username=f"the_{ada.username}")
    [connection] = await connections(pair, user=user["pk"])
    assert connection["identifier"] == user["attributes"]["sub"]
    assert (user["attributes"]["kind"], user["attributes"]["from"]) == ("openid-connect", source["slug"])
    assert user["attributes"]["as"]["username"] == ada.username
    assert party.secret not in str(user)


async def test_signing_out_there_ends_the_session_here(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    ada, there = await pair.known()
    here, other = Browser(pair.here), Browser(pair.here)
    await come_in(here, there, source)
    bob = await pair.here.sign_up()
    await other.sign_in(bob)
    assert await here.who() == ada.username

    await there.sign_out()
    async with asyncio.timeout(20):
        while await here.who() is not None:
            await asyncio.sleep(0.05)

    assert await other.who() == bob.username


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."])
async def test_a_logout_token_that_nobody_signed_ends_nothing(pair: Pair, token: str) -> None:
    source, _ = await pair.openid_source()

    answer = await pair.here.http.post(f"/source/oauth/logout/{source['slug']}/", data={"logout_token": token})

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"


async def test_who_has_no_password_proves_who_they_are_at_the_source_again(pair: Pair) -> None:
    source, _ = await pair.openid_source()
    ada, there = await pair.known()
    _, other = await pair.known()
    here = Browser(pair.here)
    await come_in(here, there, source)
    before = here.http.cookies.get("kith_session")

    address = await begin(here, source, again="true", next="/settings/security")
    asks = await there.http.get(address)
    await there.http.get(asks.headers["location"])
    await there.see(SIGN_IN, again="true", next=asked(asks.headers["location"])["next"])
    await there.answer(SIGN_IN, {"again": "true"}, component="identification", uid_field=ada.username)
    done = await there.answer(SIGN_IN, {"again": "true"}, component="password", password=ada.password)
    back = await there.http.get(done["to"])
    answer = await here.http.get(back.headers["location"])
    wrong = await here.http.get(await consent(other, drop_prompt(await begin(here, source, again="true"))))

    assert asked(address)["prompt"] == "login"
    assert answer.headers["location"] == "/settings/security"
    assert await here.who() == ada.username
    assert here.http.cookies.get("kith_session") != before
    assert wrong.status_code == 403  # somebody else does not stand for them


def drop_prompt(address: str) -> str:
    return address.replace("&prompt=login", "")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"oidc_well_known_url": "{there}/nothing/.well-known/openid-configuration"}, "oidc_well_known_url"),
        ({"oidc_well_known_url": "{there}/health"}, "oidc_well_known_url"),
        ({"oidc_well_known_url": "http://192.0.2.7/.well-known/openid-configuration"}, "oidc_well_known_url"),
        ({"oidc_jwks_url": "{there}/health"}, "oidc_jwks_url"),
    ],
)
async def test_what_cannot_be_read_is_refused_when_a_source_is_saved(
    pair: Pair, fields: dict[str, str], field: str
) -> None:
    given = {name: value.format(there=pair.there.base_url) for name, value in fields.items()}
    urls = dict.fromkeys(("authorization_url", "access_token_url", "profile_url"), f"{pair.there.base_url}/x")
    body = {"name": "x", "slug": new_name("x"), "provider_type": "openid-connect", "consumer_key": "x"}

    answer = await (await owner_of(pair.here)).call(
        "POST", f"{API}/sources/oauth/", json=body | urls | {"consumer_secret": "y"} | given
    )

    assert answer.status_code == 400
    assert list(answer.json()) == [field]


# The fediverse


async def test_a_handle_of_the_fediverse_is_enough(pair: Pair) -> None:
    source = await pair.source(provider_type="mastodon")
    ada, there = await pair.known()
    host = pair.there.base_url.removeprefix("http://")
    here, later = Browser(pair.here), Browser(pair.here)

    address = await begin(here, source, server=f"@{ada.username}@{host}")
    back = await allow(there, address)
    first = await here.http.get(back)
    await later.http.get(await allow(there, await begin(later, source, server=host)))

    assert address.startswith(f"{pair.there.base_url}/oauth/authorize?")
    assert first.headers["location"] == "/"
    assert await here.who() == await later.who() == ada.username
    [user] = await results(await owner_of(pair.here), "/core/users/", username=ada.username)
    assert user["attributes"]["fediverse"] == f"{ada.username}@{host}"
    [connection] = await connections(pair, user=user["pk"])
    assert connection["identifier"].endswith(f"@{host}")


async def allow(there: Browser, address: str) -> str:
    """Say yes on the page that asks, unless it was said before."""
    shown = await there.http.get(address)
    if shown.status_code == 302:
        return shown.headers["location"]
    csrf = there.http.cookies.get("kith_csrf") or ""
    answer = await there.http.post("/oauth/authorize", data=asked(address) | {"csrf": csrf})
    assert answer.status_code == 302, answer.text[-1500:]
    return answer.headers["location"]


async def test_no_server_of_the_fediverse_says_who_is_whom_here(pair: Pair) -> None:
    """Whoever has a server of their own gives its accounts any name, and its groups as well."""
    owner, group = await owner_of(pair.here), new_name("board")
    team = await make(owner, "/core/groups/", name=group)
    body = {"name": new_name("m"), "expression": f'return {{"groups": ["{group}"]}}'}
    mapping = await make(owner, "/propertymappings/source/oauth/", **body)
    source = await pair.source(provider_type="mastodon", user_property_mappings=[mapping["pk"]])
    links = [{name: mode} for name, modes in LINKS.items() for mode in modes]
    refused = [await owner.call("PATCH", f"{API}/sources/oauth/{source['pk']}/", json=one) for one in links]
    new = {"name": "x", "provider_type": "mastodon"}
    refused += [
        await owner.call("POST", f"{API}/sources/oauth/", json=new | one | {"slug": new_name("x")}) for one in links
    ]
    # One that was set up before this was refused.
    async with pair.here.house() as house, house.works.begin() as work:
        for table, values in (
            (sources, {"user_matching_mode": "username_link"}),
            (oauth_sources, {"group_matching_mode": "name_link"}),
        ):
            await work.db.run(
                command(update(table).where(table.c.pbm_uuid == bindparam("source", type_=UID())).values(values)),
                source=source["pk"],
            )
    ada, there = await pair.known()
    await pair.here.sign_up(ada.username)
    here = Browser(pair.here)

    answer = await here.http.get(await allow(there, await begin(here, source, server=pair.there.base_url)))
    await here.see("default-source-enrollment")
    done = await here.answer("default-source-enrollment", component="prompt", username=f"{ada.username}2")

    assert [list(one.json()) for one in refused] == [list(one) for one in [*links, *links]]
    assert answer.headers["location"] == "/flows/default-source-enrollment/"
    assert done["component"] == "redirect"
    assert await here.who() == f"{ada.username}2"
    [made] = await results(owner, "/core/users/", username=f"{ada.username}2")
    assert team["pk"] not in made["groups"]


@pytest.mark.parametrize("server", ["", "@", "no spaces please", "a@b@c@", "http://", "127.0.0.1:1", "192.0.2.1"])
async def test_a_server_that_is_none_is_said_to_be_none(pair: Pair, server: str) -> None:
    source = await pair.source(provider_type="mastodon")

    answer = await Browser(pair.here).http.get(f"/source/oauth/login/{source['slug']}/", params={"server": server})

    assert answer.status_code == (200 if not server else 400)  # without one, it is asked for
