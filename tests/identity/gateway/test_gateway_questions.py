"""Forward authentication: what other reverse proxies are answered."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.identity.gateway.gateways import Gateway, Visitor, make_gateway, refuse_everybody, visitor_of
from tests.identity.records import make, new_name, owner_of, results
from tests.identity.test_oauth_sessions import code_on, csrf_of
from tests.identity.test_refusals import kept
from tests.town import Town

KINDS = ("nginx", "traefik", "caddy", "envoy")


async def forward(town: Town, **fields: Any) -> Gateway:
    return await make_gateway(town, await owner_of(town), **{"mode": "forward_single", "internal_host": ""} | fields)


async def ask(visitor: Visitor, kind: str, url: str, **headers: str) -> httpx.Response:
    """The question as each of the proxies asks it, with the browser's cookies for that host."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    held = visitor.held(host)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in held.items())} | headers
    where = f"/outpost.kith/auth/{kind}"
    match kind:
        case "nginx":
            headers |= {"X-Original-URL": url}
        case "envoy":
            headers |= {"Host": host, "X-Forwarded-Proto": scheme}
            where += f"{slash}{path}"
        case _:
            headers |= {"X-Forwarded-Proto": scheme, "X-Forwarded-Host": host, "X-Forwarded-Uri": f"/{path}"}
    return await visitor.town.http.get(where, headers=headers)


async def enter(visitor: Visitor, gateway: Gateway, path: str = "/page") -> None:
    """As nginx does it: to `start`, and back with a cookie. The page itself is not the gateway's to show."""
    answer, where = await visitor.follow(gateway.at(f"/outpost.kith/start?rd={gateway.at(path)}"))
    assert (answer.status_code, where) == (404, gateway.at(path))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_proxy_learns_who_is_there_and_where_to_send_the_others(town: Town, kind: str) -> None:
    gateway = await forward(town, skip_path_regex="^/public/")
    person, visitor = await visitor_of(town)
    url = gateway.at("/page?x=1")

    before = await ask(visitor, kind, url)
    skipped = await ask(visitor, kind, gateway.at("/public/x"))
    await enter(visitor, gateway)
    after = [await ask(visitor, kind, url) for _ in range(2)]

    if kind == "nginx":
        assert before.status_code == 401
        assert before.headers["set-cookie"].startswith("kith_proxy_")
    else:
        assert before.status_code == 302
        assert before.headers["location"].startswith(f"{town.base_url}/application/o/authorize/?")
    assert (skipped.status_code, skipped.headers.get("x-kith-username", "")) == (200, "")
    for answer in after:
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["x-kith-username"] == person.username
        assert answer.headers["x-kith-meta-app"] == gateway.application["slug"]
        assert answer.headers["x-kith-jwt"].count(".") == 2


@pytest.mark.parametrize("kind", ["nginx", "traefik", "caddy"])
@pytest.mark.parametrize("path", ["/public/#/../../admin", "/public/x#/../../admin", "/public/x#"])
async def test_what_follows_a_number_sign_is_looked_at_too(town: Town, kind: str, path: str) -> None:
    """nginx hands it on as it came, and applications take it for a part of the path."""
    gateway = await forward(town, skip_path_regex="^/public/")

    answer = await ask(Visitor(town), kind, gateway.at(path))

    assert answer.status_code == (401 if kind == "nginx" else 302)


@pytest.mark.parametrize("kind", ["traefik", "caddy", "envoy"])
async def test_headers_that_others_were_given_are_answered_empty(town: Town, kind: str) -> None:
    """A proxy that copies them puts them in the place of what a browser has made up."""
    gateway = await forward(town, skip_path_regex="^/public/")
    _, visitor = await visitor_of(town)
    await visitor.follow(gateway.at("/outpost.kith/start"))
    name = f"x-role-{new_name('r')[-6:]}".lower()
    given = {"additionalHeaders": {name: "admin"}}
    await make(await owner_of(town), "/core/groups/", name=new_name("admins"), attributes=given)

    answers = [await ask(visitor, kind, gateway.at("/x")), await ask(Visitor(town), kind, gateway.at("/public/x"))]

    assert [(one.status_code, one.headers.get(name)) for one in answers] == [(200, ""), (200, "")]


@pytest.mark.parametrize("kind", ["traefik", "caddy", "envoy"])
async def test_a_proxy_that_hands_answers_on_needs_no_way_to_the_endpoints(town: Town, kind: str) -> None:
    gateway = await forward(town)
    person, visitor = await visitor_of(town)

    first = await ask(visitor, kind, gateway.at("/page"))
    visitor.keep(gateway.host.partition(":")[0], gateway.host, first)
    back = await visitor.ask(first.headers["location"])
    done = await ask(visitor, kind, back.headers["location"])
    visitor.keep(gateway.host.partition(":")[0], gateway.host, done)
    known = await ask(visitor, kind, gateway.at("/page"))
    out = await ask(visitor, kind, gateway.at("/page?X-Kith-logout=true"), **{"Sec-Fetch-Site": "same-origin"})

    assert back.headers["location"].startswith(gateway.at("/outpost.kith/callback?"))
    assert (done.status_code, done.headers["location"]) == (302, gateway.at("/page"))
    assert known.headers["x-kith-username"] == person.username
    assert out.headers["location"].startswith(
        f"{town.base_url}/application/o/{gateway.application['slug']}/end-session/"
    )


async def test_one_sign_in_is_enough_for_a_whole_domain(town: Town) -> None:
    domain = "d" + (await forward(town)).host.partition(".")[0][3:] + ".localhost"
    gateway = await forward(
        town, mode="forward_domain", cookie_domain=domain, external_host=f"http://auth.{domain}:{town.port}"
    )
    person, visitor = await visitor_of(town)
    one, two = f"http://one.{domain}:{town.port}/a", f"http://two.{domain}:{town.port}/b"

    first = await ask(visitor, "nginx", one)
    answer = await visitor.ask(gateway.at(f"/outpost.kith/start?rd={one}"))
    [cookie] = answer.headers.get_list("set-cookie")
    while answer.status_code == 302 and not answer.headers["location"].startswith(one):
        answer = await visitor.ask(answer.headers["location"])
    there = [await ask(visitor, kind, url) for kind in ("nginx", "traefik") for url in (one, two)]
    elsewhere = await ask(visitor, "nginx", f"http://evil{domain}:{town.port}/")

    assert first.status_code == 401
    assert f"Domain={domain}" in cookie
    assert answer.headers["location"] == one
    assert {(one.status_code, one.headers["x-kith-username"]) for one in there} == {(200, person.username)}
    assert elsewhere.status_code == 404


async def test_whoever_is_refused_gets_a_page_with_a_code(town: Town) -> None:
    owner = await owner_of(town)
    gateway = await forward(town)
    person, visitor = await visitor_of(town)
    await enter(visitor, gateway)

    await refuse_everybody(owner, gateway)
    asked = {kind: await ask(visitor, kind, gateway.at("/page")) for kind in KINDS}
    start = await visitor.ask(gateway.at("/outpost.kith/start"))
    other, other_visitor = await visitor_of(town)
    refused, where = await other_visitor.follow(gateway.at("/outpost.kith/start"))

    assert {kind: answer.status_code for kind, answer in asked.items()} == {
        "nginx": 401, "traefik": 403, "caddy": 403, "envoy": 403
    }  # fmt: skip
    assert start.status_code == 403
    assert "Not on Sundays." in start.text
    for page, who in ((asked["caddy"], person), (start, person), (refused, other)):
        refusal = await kept(town, code_on(page))
        assert (refusal.username, refusal.message) == (who.username, "Not on Sundays.")
    assert where.startswith(town.base_url)
    assert "Policies refused." in await town.kith("why", code_on(start))


async def test_a_proxy_that_does_not_say_what_it_wants_is_told_and_written_down(town: Town) -> None:
    owner = await owner_of(town)

    answers = [
        await town.http.get("/outpost.kith/auth/nginx"),
        await town.http.get("/outpost.kith/auth/nginx", headers={"X-Original-URL": "/only/a/path"}),
        await town.http.get("/outpost.kith/auth/traefik", headers={"X-Forwarded-Host": "a.example"}),
    ]
    unknown = await town.http.get("/outpost.kith/auth/nginx", headers={"X-Original-URL": "https://strange.example/"})

    assert [one.status_code for one in answers] == [500, 500, 500]
    assert "onfiguration error" in answers[0].text
    assert unknown.status_code == 404
    events = await results(owner, "/audit/events/", action="configuration_error")
    about = [one["context"] for one in events if one["app"] == "providers.gateway"]
    assert about[0]["outpost"] == "Kith gateway"
    assert {"url", "headers", "provider"} <= set(about[0])


async def test_ping_needs_nobody_and_what_is_not_there_is_not_found(town: Town) -> None:
    gateway = await forward(town)
    visitor = Visitor(town)

    pings = [await town.http.get("/outpost.kith/ping"), await visitor.ask(gateway.at("/outpost.kith/ping"))]
    others = [
        await visitor.ask(gateway.at("/outpost.kith/nothing")),
        await town.http.get("/outpost.kith/auth/apache"),
        await town.http.get("/outpost.kith/auth/nginx/more", headers={"X-Original-URL": gateway.at("/")}),
        await visitor.ask(gateway.at("/page")),
        await town.http.get("/outpost.kith/start"),
    ]

    assert [one.status_code for one in pings] == [204, 204]
    assert [one.status_code for one in others] == [404] * 5


async def test_a_gateway_below_a_path_has_that_path_and_no_other(town: Town) -> None:
    owner = await owner_of(town)
    name = (await forward(town)).host
    gateway = await make_gateway(
        town, owner, mode="forward_single", internal_host="", external_host=f"http://sub-{name}/app"
    )
    person, visitor = await visitor_of(town)

    await enter(visitor, gateway)
    inside = await ask(visitor, "nginx", gateway.at("/page"))
    beside = await ask(visitor, "nginx", f"http://sub-{name}/apple")

    assert inside.headers["x-kith-username"] == person.username
    assert beside.status_code == 404


async def test_people_who_are_viewed_as_somebody_else_do_not_enter(town: Town) -> None:
    gateway = await forward(town)
    ada, person = await town.owner(), await town.sign_up()
    _, visitor = await visitor_of(town, ada)
    form = await visitor.browser.http.get("/settings/impersonate")
    given = {"csrf": csrf_of(form), "username": person.username, "reason": "They asked for help"}
    await visitor.browser.http.post("/settings/impersonate", data=given)

    refused, _ = await visitor.follow(gateway.at("/outpost.kith/start"))

    assert refused.status_code == 403


async def test_what_somebody_may_do_there_is_told_in_a_header(town: Town) -> None:
    ada, gateway = await owner_of(town), await forward(town)
    person, visitor = await visitor_of(town)
    [user] = await results(ada, "/core/users/", username=person.username)
    await enter(visitor, gateway)
    before = await ask(visitor, "nginx", gateway.at("/page"))

    for name in ("read", "write|all"):
        made = await make(ada, "/core/application_entitlements/", name=name, app=gateway.application["pbm_uuid"])
        await make(ada, "/policies/bindings/", target=made["pbm_uuid"], user=user["pk"], order=0)
    after = await ask(visitor, "nginx", gateway.at("/page"), **{"X-Kith-Entitlements": "root"})

    assert before.headers["x-kith-entitlements"] == ""
    assert after.headers["x-kith-entitlements"] == "read|write all"
