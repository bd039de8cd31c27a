"""One server under several names: how it looks at each, and how people sign in there."""

from __future__ import annotations

import asyncio
import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from kith.base.command_news import Written
from kith.identity.brands.fields import BrandPicture, Domain, StyleSheet
from kith.identity.brands.resources import RESOURCE
from kith.identity.brands.service import host_name
from kith.identity.mappings.defaults import SYSTEM
from kith.identity.rest import operations
from kith.identity.rest.fields import InvalidValue
from kith.identity.rest.record_store import RecordStore
from tests.identity.flow_browser import Browser, Key, link_in_mail
from tests.identity.records import (
    API,
    make,
    make_binding,
    make_flow,
    make_stage,
    new_name,
    owner_of,
    person_who_may,
    results,
)
from tests.identity.relying_party import make_party
from tests.identity.test_oauth_sessions import until
from tests.town import Person, Town

PATH = "/core/brands/"
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n and more").decode()


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


def new_host() -> str:
    return f"{new_name('brand')}.example"


def at(town: Town, host: str) -> Browser:
    """A browser that knows the server by this name."""
    browser = Browser(town)
    browser.http.headers["Host"] = f"{host}:{town.port}"
    return browser


async def brand(ada: Person, host: str, **fields: Any) -> dict[str, Any]:
    return await make(ada, PATH, domain=host, **fields)


async def shown_at(town: Town, host: str, path: str = "/") -> str:
    return (await town.http.get(path, headers={"Host": host})).text


# What a brand may be


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Sign-In.Example.ORG", "sign-in.example.org"),
        ("localhost", "localhost"),
        ("example.org.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("https://example.org", None),
        ("example.org:8000", None),
        ("example.org/x", None),
        ("a..b", None),
        ("-a.example", None),
        ("a" * 64 + ".example", None),
        ("*.example.org", None),
        ("a b", None),
        ("[::1]", None),
        ("bü cher", None),
    ],
)
def test_what_is_the_name_of_a_host(text: str, host: str | None) -> None:
    field = Domain(name="domain", required=True)
    if host is None:
        with pytest.raises(InvalidValue):
            field.read(text)
    else:
        assert field.read(text) == host


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("/media/logo.png", True),
        (f"data:image/png;base64,{PIXEL}", True),
        ("", True),
        ("//elsewhere.example/logo.png", False),
        ("https://elsewhere.example/logo.png", False),
        ("data:text/html;base64,PHNjcmlwdD4=", False),
        ("data:image/png,plain", False),
        ("data:image/png;base64,x", False),
        ('/x" onerror="alert(1)', False),
        ("javascript:alert(1)", False),
    ],
)
def test_what_may_be_a_picture(text: str, is_one: bool) -> None:
    assert _accepts(BrandPicture(name="logo", default=""), text) is is_one


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("body { background: #fff url(/media/x.png) }", True),
        ("a { background: url('data:image/png;base64,xx') }", True),
        ('a { background: url( "https://elsewhere.example/" ) }', False),
        ("a { background: URL(//elsewhere.example/) }", False),
        ("@import '/x.css';", False),
        ("@IMPORT url(x)", False),
    ],
)
def test_what_may_be_a_style(text: str, is_one: bool) -> None:
    assert _accepts(StyleSheet(name="css", default=""), text) is is_one


def _accepts(field: Any, text: str) -> bool:
    try:
        field.read(text)
    except InvalidValue:
        return False
    return True


@pytest.mark.parametrize(
    ("host", "name"),
    [("A.Example:8000", "a.example"), ("a.example.", "a.example"), ("[::1]:80", ""), ("", ""), ("x" * 300, "")],
)
def test_what_a_host_header_names(host: str, name: str) -> None:
    assert host_name(host) == name


# How it looks


async def test_pages_look_as_the_brand_of_their_host_says(town: Town, ada: Person) -> None:
    host = new_host()
    made = await brand(
        ada,
        host,
        branding_title="Blue <b>House</b>",
        branding_logo=f"data:image/png;base64,{PIXEL}",
        branding_favicon="/media/icon.png",
        branding_custom_css="body { color: blue }</style><script>",
    )
    own = await brand(ada, f"own.{host}", branding_title="Green House")

    pages = {name: await shown_at(town, name) for name in (host, f"{host}:1", f"deep.below.{host}", own["domain"])}
    other, missing = await shown_at(town, f"not{host}"), await shown_at(town, host, "/nowhere-at-all")
    sign_in = await shown_at(town, host, "/flows/default-authentication-flow/")

    for page in (pages[host], pages[f"{host}:1"], pages[f"deep.below.{host}"], missing, sign_in):
        assert "Blue &lt;b&gt;House&lt;/b&gt;" in page
        assert f'<link rel="stylesheet" href="/static/brand/{made["pk"]}/style.css?v=' in page
        assert '<link rel="icon" href="/media/icon.png">' in page
        assert "<script>" not in page
    assert "Green House" in pages[own["domain"]]
    assert "Blue" not in pages[own["domain"]] + other
    style = await town.http.get(f"/static/brand/{made['pk']}/style.css")
    logo = await town.http.get(f"/static/brand/{made['pk']}/logo")
    assert style.text == "body { color: blue }</style><script>"
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert (logo.headers["content-type"], logo.content) == ("image/png", base64.b64decode(PIXEL))
    for answer in (style, logo):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    for path in ("favicon", "attributes", "../../x"):
        assert (await town.http.get(f"/static/brand/{made['pk']}/{path}")).status_code == 404
    assert (await town.http.get(f"/static/brand/{new_name('x')}/logo")).status_code == 404


async def test_a_change_counts_with_the_next_page(town: Town, ada: Person) -> None:
    host = new_host()
    titles = []
    before = await shown_at(town, host)
    made = await brand(ada, host, branding_title="First title")
    titles.append("First title" in await shown_at(town, host))
    await ada.call("PATCH", f"{API}{PATH}{made['pk']}/", json={"branding_title": "Second title"})
    titles.append("Second title" in await shown_at(town, host))
    await ada.call("DELETE", f"{API}{PATH}{made['pk']}/")
    after = await shown_at(town, host)

    assert titles == [True, True]
    assert "First title" not in before
    assert "Second title" not in after
    assert "<title>" in after


async def test_one_brand_is_for_all_other_hosts(town: Town, ada: Person) -> None:
    [shipped] = await results(ada, PATH, default="true")
    second = await ada.call("POST", API + PATH, json={"domain": new_host(), "default": True})
    try:
        await ada.call("PATCH", f"{API}{PATH}{shipped['pk']}/", json={"branding_title": "For everybody"})
        page = await shown_at(town, new_host())
    finally:
        await ada.call("PATCH", f"{API}{PATH}{shipped['pk']}/", json={"branding_title": ""})

    assert (shipped["domain"], second.status_code) == ("kith-default", 400)
    assert second.json() == {"default": ["Only a single brand can be set as default."]}
    assert "For everybody" in page


async def test_two_cannot_become_the_default_at_once(town: Town, ada: Person) -> None:
    [shipped] = await results(ada, PATH, default="true")
    made = [await brand(ada, new_host()) for _ in range(4)]
    await ada.call("PATCH", f"{API}{PATH}{shipped['pk']}/", json={"default": False})
    try:
        answers = await asyncio.gather(
            *(ada.call("PATCH", f"{API}{PATH}{one['pk']}/", json={"default": True}) for one in made)
        )
        found = await results(ada, PATH, default="true")
    finally:
        for one in made:
            await ada.call("DELETE", f"{API}{PATH}{one['pk']}/")
        await ada.call("PATCH", f"{API}{PATH}{shipped['pk']}/", json={"default": True})

    assert sorted(one.status_code for one in answers) == [200, 400, 400, 400]
    assert len(found) == 1


async def test_anybody_may_know_the_brand_of_a_host(town: Town, ada: Person) -> None:
    host = new_host()
    flow = await make_flow(ada, "recovery")
    await brand(ada, host, branding_title="Blue House", branding_custom_css="a {}", flow_recovery=flow["pk"])

    told = (await town.http.get(f"{API}{PATH}current/", headers={"Host": f"x.{host}"})).json()
    plain = (await town.http.get(f"{API}{PATH}current/")).json()

    assert told == {
        "matched_domain": host,
        "branding_title": "Blue House",
        "branding_logo": "",
        "branding_favicon": "",
        "branding_custom_css": "a {}",
        "flow_authentication": None,
        "flow_invalidation": None,
        "flow_recovery": flow["slug"],
        "flow_unenrollment": None,
        "flow_user_settings": None,
        "flow_device_code": None,
    }
    assert (plain["matched_domain"], plain["branding_title"]) == ("kith-default", "Kith")


# How people sign in


async def test_people_sign_in_under_a_second_name_by_its_own_flow(town: Town, ada: Person) -> None:
    host = new_host()
    flow = await make_flow(ada, "authentication")
    for order, kind in enumerate(("identification", "password", "user_login")):
        [stage] = [
            one
            for one in await results(ada, f"/stages/{kind}/")
            if one["name"] == f"default-authentication-{kind.removeprefix('user_')}"
        ]
        await make_binding(ada, flow, stage, order=order)
    await brand(ada, host, flow_authentication=flow["pk"])
    person = await town.sign_up()
    browser = at(town, host)

    entry = await browser.http.get("/flows/-/default/authentication/")
    usual = await town.http.get("/flows/-/default/authentication/")
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="identification", uid_field=person.username)
    done = await browser.answer(flow["slug"], component="password", password=person.password)

    assert entry.headers["location"] == f"/flows/{flow['slug']}/"
    assert usual.headers["location"] == "/flows/default-authentication-flow/"
    assert done["to"] == "/"
    assert person.username in (await browser.http.get("/settings/security")).text
    [user] = await results(ada, "/core/users/", username=person.username)
    [event] = await results(ada, "/audit/events/", action="login", user=user["pk"])
    assert event["context"]["brand"]["name"] == host
    # Cookies belong to the name that set them: nothing says more about where they may go.
    answer = await at(town, host).http.get(f"{API}/flows/executor/default-authentication-flow/")
    assert all("domain=" not in cookie.lower() for cookie in answer.headers.get_list("set-cookie"))


async def test_a_flow_that_refuses_leaves_the_usual_one_and_cannot_be_deleted(town: Town, ada: Person) -> None:
    host = new_host()
    flow = await make_flow(ada, "authentication")
    policy = await make(ada, "/policies/dummy/", name=new_name("no"), result=False, wait_min=0, wait_max=0)
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=flow["pbm_uuid"], order=0)
    made = await brand(ada, host, flow_authentication=flow["pk"])

    refused = await at(town, host).http.get("/flows/-/default/authentication/")
    held = await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")

    assert refused.headers["location"] == "/flows/default-authentication-flow/"
    assert (held.status_code, held.json()["references"][0]["name"]) == (409, host)
    assert (await ada.get(f"{API}{PATH}{made['pk']}/")).json()["flow_authentication"] == flow["pk"]


async def test_applications_are_told_one_issuer_whatever_the_name(town: Town, ada: Person) -> None:
    host = new_host()
    await brand(ada, host)
    party = await make_party(town, ada)
    person, browser = await town.sign_up(), at(town, host)
    await browser.sign_in(person)

    claims = await party.read((await party.tokens(browser))["id_token"])

    assert claims["iss"] == party.issuer
    assert claims["preferred_username"] == person.username


async def test_sources_send_people_back_to_where_they_came_from(town: Town, ada: Person) -> None:
    host, slug = new_host(), new_name("src")
    await brand(ada, host)
    flows = {one["slug"]: one["pk"] for one in await results(ada, "/flows/instances/")}
    both = {"authentication_flow": flows["default-source-authentication"], "slug": slug, "name": slug}
    services = {
        "authorization_url": "https://x.example/a", "access_token_url": "https://x.example/t",
        "profile_url": "https://x.example/p", "consumer_key": "k", "consumer_secret": "s",
    }  # fmt: skip
    await make(ada, "/sources/oauth/", provider_type="github", **both, **services)
    fediverse = new_name("fedi")
    await make(ada, "/sources/oauth/", **both | {"slug": fediverse, "name": fediverse, "provider_type": "mastodon"})

    asked = {}
    for name in (host, "evil.example"):
        answer = await at(town, name).http.get(f"/source/oauth/login/{slug}/")
        asked[name] = parse_qs(urlsplit(answer.headers["location"]).query)["redirect_uri"]
    home = await at(town, host).http.get(f"/source/oauth/login/{fediverse}/?next=/x")
    below = await at(town, f"below.{host}").http.get(f"/source/oauth/login/{slug}/")

    usual = [f"{town.base_url}/source/oauth/callback/{slug}/"]
    own = [f"http://{host}:{town.port}/source/oauth/callback/{slug}/"]
    assert asked == {host: own, "evil.example": usual}
    assert below.headers["location"] == f"{town.base_url}/source/oauth/login/{slug}/"
    assert home.headers["location"] == f"{town.base_url}/source/oauth/login/{fediverse}/?next=/x"


async def test_links_in_mails_lead_to_names_of_brands_and_to_no_others(town: Town, ada: Person) -> None:
    host = new_host()
    await brand(ada, host)
    told = {}
    for name in (host, f"below.{host}", "evil.example"):
        person = await town.sign_up()
        browser = at(town, name)
        await browser.see("default-recovery-flow")
        await browser.answer("default-recovery-flow", component="identification", uid_field=person.username)
        link = await link_in_mail(town, f"{person.username}@example.org", after="http")
        told[name] = urlsplit(f"http{link}").netloc

    home = urlsplit(town.base_url).netloc
    assert told == {host: f"{host}:{town.port}", f"below.{host}": home, "evil.example": home}


async def test_a_name_elsewhere_has_passkeys_of_its_own(town: Town, ada: Person) -> None:
    host = new_host()
    await brand(ada, host)
    person, browser = await town.sign_up(), at(town, host)
    await browser.sign_in(person)
    shown = await browser.see("default-authenticator-webauthn-setup")
    if shown["component"] != "webauthn":
        shown = await browser.answer("default-authenticator-webauthn-setup", password=person.password)
    passkey = Key(town)
    passkey.host, passkey.origin = host, f"http://{host}:{town.port}"
    await browser.answer(
        "default-authenticator-webauthn-setup",
        component="webauthn",
        name="Key",
        response=passkey.register(shown["registration"]),
    )
    [user] = await results(ada, "/core/users/", username=person.username)
    events = await results(ada, "/audit/events/", user=user["pk"], action="model_created")

    assert shown["registration"]["rp"]["id"] == host
    assert [one["context"]["model"]["name"] for one in events] == ["Key"]


async def test_a_device_waits_for_the_flow_of_the_brand(town: Town, ada: Person) -> None:
    host = new_host()
    flow = await make_flow(ada, "stage_setup", authentication="require_authenticated")
    await make_binding(ada, flow, await make_stage(ada))
    await brand(ada, host, flow_device_code=flow["pk"])
    person, browser = await town.sign_up(), at(town, host)
    await browser.sign_in(person)

    first = await browser.http.get("/device", params={"code": "ABCD-EFGH"})
    again = await browser.http.get("/device")
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="dummy")
    passed = await browser.http.get("/device", params={"code": "ABCD-EFGH"})

    assert first.headers["location"] == f"/flows/{flow['slug']}/?next=%2Fdevice%3Fcode%3DABCD-EFGH"
    assert again.status_code == 303
    assert (passed.status_code, "ABCD-EFGH" in passed.text) == (200, True)


async def test_external_users_go_to_the_default_application(town: Town, ada: Person) -> None:
    host = new_host()
    app = await make(
        ada, "/core/applications/", name="Wiki", slug=new_name("w"), meta_launch_url="https://wiki.example/start"
    )
    await brand(ada, host, default_application=app["pk"])
    member, guest = await town.sign_up(), await town.sign_up()
    [user] = await results(ada, "/core/users/", username=guest.username)
    await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"type": "external"})
    pages = []
    for person in (member, guest):
        browser = at(town, host)
        await browser.sign_in(person)
        pages.append((await browser.http.get("/")).text)

    marks = ['http-equiv="refresh" content="0;url=https://wiki.example/start"' in page for page in pages]
    assert marks == [False, True]


async def test_settings_lead_to_the_flow_of_the_brand(town: Town, ada: Person) -> None:
    host = new_host()
    flow = await make_flow(ada, "stage_setup", authentication="require_authenticated")
    await brand(ada, host, flow_user_settings=flow["pk"])
    person, browser = await town.sign_up(), at(town, host)
    await browser.sign_in(person)

    page = (await browser.http.get("/settings/security")).text
    where = await browser.http.get("/flows/-/default/user_settings/")

    assert 'href="/flows/-/default/user_settings/"' in page
    assert where.headers["location"] == f"/flows/{flow['slug']}/"
    assert (await town.http.get("/flows/-/default/user_settings/")).status_code == 404


# Who may


async def test_only_superusers_choose_how_people_sign_in(town: Town, ada: Person) -> None:
    editor = await person_who_may(
        town, ada, "core.add_brand", "core.change_brand", "core.view_brand", "flows.view_flow"
    )
    flow = await make_flow(ada, "authentication")
    made = await brand(ada, new_host(), branding_title="T", branding_custom_css="a { color: red }")
    item = f"{API}{PATH}{made['pk']}/"
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", item, {"flow_authentication": flow["pk"]}),
        ("PATCH", item, {"domain": new_host()}),
        ("PATCH", item, {"default": True}),
        # A style is on all pages: it can lay the button that allows something under any click.
        ("PATCH", item, {"branding_custom_css": "button { position: fixed; inset: 0; opacity: 0 }"}),
        ("PATCH", item, {"branding_title": "Other", "branding_custom_css": ""}),
        ("DELETE", item, {}),
        # Under a name without flows of its own people would sign in by laxer ones.
        ("POST", API + PATH, {"domain": new_host(), "branding_title": "T"}),
        ("POST", API + PATH, {"domain": new_host(), "flow_recovery": flow["pk"]}),
    ]

    refused = [(await editor.call(method, path, json=body)).status_code for method, path, body in calls]
    looks = {"branding_title": "Other", "branding_logo": "/media/logo.png", "branding_favicon": "/media/icon.png"}
    looks["branding_custom_css"] = made["branding_custom_css"]
    title = await editor.call("PATCH", item, json=looks)
    stranger = await (await town.sign_up()).call("PATCH", item, json={"branding_title": "Mine"})

    assert refused == [403] * len(calls)
    assert (title.status_code, stranger.status_code) == (200, 403)


async def test_what_another_process_changes_is_shown_at_once(town: Town, ada: Person) -> None:
    host = new_host()
    made = await brand(ada, host, branding_title="First title")
    assert "First title" in await shown_at(town, host)

    async with town.house() as house:
        house.news.relay = house.news.relay or Written()  # as for commands
        async with house.works.begin() as work:
            title = {"branding_title": "Second title"}
            await operations.update(RecordStore(RESOURCE), work, SYSTEM, made["pk"], title, whole=False)

    async def is_shown() -> bool:
        return "Second title" in await shown_at(town, host)

    await until(is_shown)
