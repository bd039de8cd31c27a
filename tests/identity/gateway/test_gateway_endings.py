"""When a gateway's yes becomes a no: at the next question, on every process."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.identity.gateway.gateways import Gateway, Visitor, make_gateway, refuse_everybody, sent, visitor_of
from tests.identity.gateway.upstream_app import UpstreamApp
from tests.identity.records import make, new_name, owner_of, results
from tests.identity.test_endings import PERSON_AGES, let_pass
from tests.identity.test_oauth_sessions import csrf_of
from tests.town import Person, Town
from tests.town.ports import ReservedPort

Change = Callable[[Town, Person, Visitor, Gateway], Awaitable[None]]


async def disabled(town: Town, person: Person, _visitor: Visitor, _gateway: Gateway) -> None:
    owner = await owner_of(town)
    [user] = await results(owner, "/core/users/", username=person.username)
    await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"is_active": False})


OWN_WISH = {"Sec-Fetch-Site": "same-origin"}  # a link of the application itself


async def deleted(town: Town, person: Person, _visitor: Visitor, _gateway: Gateway) -> None:
    owner = await owner_of(town)
    [user] = await results(owner, "/core/users/", username=person.username)
    await owner.call("DELETE", f"/api/v2/core/users/{user['pk']}/")


async def new_password(town: Town, person: Person, _visitor: Visitor, _gateway: Gateway) -> None:
    owner = await owner_of(town)
    [user] = await results(owner, "/core/users/", username=person.username)
    path = f"/api/v2/core/users/{user['pk']}/set_password/"
    done = await owner.call("POST", path, json={"password": "another horse battery"})
    assert done.status_code == 204, done.text


async def signed_out(_town: Town, _person: Person, visitor: Visitor, _gateway: Gateway) -> None:
    page = await visitor.browser.http.get("/flows/default-invalidation-flow/")
    form = {"csrf": csrf_of(page), "component": "sign-out"}
    await visitor.browser.http.post("/flows/default-invalidation-flow/", data=form)
    assert await visitor.browser.who() is None


async def signed_out_at_the_gateway(_town: Town, _person: Person, visitor: Visitor, gateway: Gateway) -> None:
    held = dict(visitor.cookies[gateway.host])
    answer = await visitor.ask(gateway.at("/outpost.kith/sign_out"), headers=OWN_WISH)
    assert "Max-Age=0" in answer.headers["set-cookie"]
    visitor.cookies[gateway.host] = held  # somebody has kept a copy


async def new_policy(town: Town, _person: Person, _visitor: Visitor, gateway: Gateway) -> None:
    await refuse_everybody(await owner_of(town), gateway)


async def no_application(town: Town, _person: Person, _visitor: Visitor, gateway: Gateway) -> None:
    owner = await owner_of(town)
    await owner.call("DELETE", f"/api/v2/core/applications/{gateway.application['slug']}/")
    await owner.call("DELETE", f"/api/v2/core/applications/{gateway.application['pk']}/")


async def session_ended_by_staff(town: Town, person: Person, _visitor: Visitor, _gateway: Gateway) -> None:
    await town.kith("users", "disable", person.username)


async def expired(town: Town, person: Person, _visitor: Visitor, _gateway: Gateway) -> None:
    """Their end has come, and nobody has noticed."""
    owner = await owner_of(town)
    [user] = await results(owner, "/core/users/", username=person.username)
    await let_pass(town, PERSON_AGES, user["pk"])


CHANGES: list[Change] = [
    disabled, expired, deleted, new_password, signed_out, signed_out_at_the_gateway, new_policy, no_application,
    session_ended_by_staff,
]  # fmt: skip


@asynccontextmanager
async def gateway_process(town: Town) -> AsyncIterator[int]:
    """`kith gateway` beside the town's server."""
    with ReservedPort() as port:
        environment = town.environment | {"KITH_GATEWAY_BIND": f"127.0.0.1:{port.number}"}
        words = [sys.executable, "-c", "import sys; from kith.cli import main; sys.exit(main())", "gateway"]
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            async with asyncio.timeout(60), httpx.AsyncClient() as http:
                while True:
                    assert process.poll() is None
                    try:
                        answer = await http.get(f"http://127.0.0.1:{port.number}/outpost.kith/ping")
                    except httpx.ConnectError:
                        await asyncio.sleep(0.1)
                    else:
                        assert answer.status_code == 204
                        break
            yield port.number
        finally:
            process.terminate()
            assert await asyncio.to_thread(process.wait, 30) == 0


async def until_no(visitor: Visitor, gateway: Gateway) -> None:
    """Two seconds are promised; a busy machine may take longer to say so."""
    async with asyncio.timeout(20):
        while (await visitor.ask(gateway.at("/"))).status_code == 200:
            await asyncio.sleep(0.05)


async def until_known(town: Town, gateway: Gateway) -> None:
    """A process of its own reads the gateways again after a second."""
    async with asyncio.timeout(20):
        while (await Visitor(town).ask(gateway.at("/"))).status_code == 404:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
async def test_what_ends_somewhere_ends_at_the_gateway_at_the_next_question(
    town: Town, app: UpstreamApp, change: Change
) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    person, visitor = await visitor_of(town)
    answer, _ = await visitor.follow(gateway.at("/"))
    assert sent(answer)["x-kith-username"] == person.username

    await change(town, person, visitor, gateway)
    if change is session_ended_by_staff:
        await until_no(visitor, gateway)  # another process did it
    answer = await visitor.ask(gateway.at("/"))

    # To sign in again, or known and not let in any more: either way not inside.
    assert answer.status_code in (302, 403), answer.text


async def test_a_process_of_its_own_answers_like_the_server_and_learns_of_every_end(
    town: Town, app: UpstreamApp
) -> None:
    owner = await owner_of(town)
    async with gateway_process(town) as port:
        for change in (disabled, new_password, signed_out, new_policy):
            gateway = await make_gateway(town, owner, port=port, internal_host=app.url)
            await until_known(town, gateway)
            person, visitor = await visitor_of(town)
            answer, where = await visitor.follow(gateway.at("/x"))
            assert (sent(answer)["x-kith-username"], where) == (person.username, gateway.at("/x"))

            await change(town, person, visitor, gateway)
            await until_no(visitor, gateway)

        strange = Visitor(town)
        unknown = await strange.ask(f"http://unknown.localhost:{port}/")
        assert unknown.status_code == 404


async def test_signing_in_again_signs_nobody_out(town: Town, app: UpstreamApp) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    person, visitor = await visitor_of(town)
    await visitor.follow(gateway.at("/"))

    await visitor.browser.see("default-authentication-flow", again="true")
    await visitor.browser.sign_in(person)
    answer = await visitor.ask(gateway.at("/"))

    assert sent(answer)["x-kith-username"] == person.username


async def test_signing_out_at_the_gateway_signs_out_at_the_server(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    gateway = await make_gateway(town, owner, internal_host=app.url)
    person, visitor = await visitor_of(town)
    await visitor.follow(gateway.at("/"))

    out = await visitor.ask(gateway.at("/any?X-Kith-logout=true"), headers=OWN_WISH)
    await visitor.follow(out.headers["location"])
    again = await visitor.ask(gateway.at("/"))

    assert out.headers["location"].startswith(
        f"{town.base_url}/application/o/{gateway.application['slug']}/end-session/"
    )
    assert "id_token_hint=" in out.headers["location"]
    assert await visitor.browser.who() is None
    assert again.status_code == 302
    [user] = await results(owner, "/core/users/", username=person.username)
    events = await results(owner, "/audit/events/", action="logout", user=user["pk"])
    assert "providers.gateway" in {one["app"] for one in events}


# Logging in by a header


async def app_password(person: Person, **fields: str) -> tuple[str, str]:
    made = await make(person, "/core/tokens/", identifier=new_name("app"), intent="app_password", **fields)
    return str(made["pk"]), str(made["key"])


def basic(name: str, word: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'{name}:{word}'.encode()).decode()}"}


async def test_programs_come_in_with_an_app_password_and_with_nothing_less(town: Town, app: UpstreamApp) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url, skip_path_regex="^/open/")
    own = await make_gateway(town, await owner_of(town), internal_host=app.url, intercept_header_auth=False)
    person = await town.sign_up()
    identifier, key = await app_password(person)
    program = Visitor(town)

    answers = [await program.ask(gateway.at("/"), headers=basic(person.username, key)) for _ in range(2)]
    refused = [
        await program.ask(gateway.at("/"), headers=basic(person.username, person.password)),
        await program.ask(gateway.at("/"), headers=basic(person.username, f"{key}x")),
        await program.ask(gateway.at("/"), headers={"Authorization": "Basic %%%"}),
        await program.ask(gateway.at("/"), headers={"Authorization": "Digest x"}),
    ]
    not_ours = await program.ask(own.at("/"), headers=basic(person.username, key))
    open_to_all = await program.ask(gateway.at("/open/x"), headers=basic("somebody", "of the application's own"))
    await person.call("DELETE", f"/api/v2/core/tokens/{identifier}/")
    after = await program.ask(gateway.at("/"), headers=basic(person.username, key))

    for answer in answers:
        told = sent(answer)
        assert (told["x-kith-username"], "authorization" in told) == (person.username, False)
    assert [one.status_code for one in refused] == [401] * 4
    assert refused[0].headers["www-authenticate"].startswith("Basic")
    assert not_ours.status_code == 302
    assert sent(open_to_all)["authorization"].startswith("Basic ")
    assert after.status_code == 401


@pytest.mark.parametrize(
    ("scopes", "is_let_in"),
    [
        ("api", True),
        ("openid email", True),
        ("read:statuses", False),
        ("push", False),
        ("profile", False),
        ("email", False),
        ("read write admin:write", False),
    ],
)
async def test_an_app_password_for_less_than_signing_in_opens_no_gateway(
    town: Town, app: UpstreamApp, scopes: str, is_let_in: bool
) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    person, program = await town.sign_up(), Visitor(town)
    _, key = await app_password(person, scopes=scopes)

    by_password = await program.ask(gateway.at("/"), headers=basic(person.username, key))
    form = {"grant_type": "password", "username": person.username, "password": key}
    given = await town.http.post("/application/o/token/", data=form | {"client_id": gateway.record["client_id"]})
    token = given.json().get("access_token", "none")
    by_token = await program.ask(gateway.at("/"), headers={"Authorization": f"Bearer {token}"})

    assert [by_password.status_code, by_token.status_code] == [200 if is_let_in else 401] * 2
    if is_let_in:
        told = [sent(one) for one in (by_password, by_token)]
        assert [one["x-kith-username"] for one in told] == [person.username] * 2
    else:
        assert (given.status_code, given.json()["error"]) == (400, "invalid_scope")


async def test_an_access_token_opens_the_gateway_it_was_given_for(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    gateway = await make_gateway(town, owner, internal_host=app.url)
    other = await make_gateway(town, owner, internal_host=app.url)
    person = await town.sign_up()
    _, key = await app_password(person)
    form = {
        "grant_type": "password", "client_id": gateway.record["client_id"], "username": person.username,
        "password": key, "scope": "openid profile",
    }  # fmt: skip
    given = await town.http.post("/application/o/token/", data=form)
    token = given.json()["access_token"]
    program = Visitor(town)

    bearer = await program.ask(gateway.at("/"), headers={"Authorization": f"Bearer {token}"})
    as_password = await program.ask(gateway.at("/"), headers=basic("kith/token", token))
    elsewhere = await program.ask(other.at("/"), headers={"Authorization": f"Bearer {token}"})
    own = await program.ask(gateway.at("/"), headers={"Authorization": f"Bearer {key}"})
    await disabled(town, person, program, gateway)
    after = await program.ask(gateway.at("/"), headers={"Authorization": f"Bearer {token}"})

    for answer in (bearer, as_password):
        told = sent(answer)
        assert (told["x-kith-username"], "authorization" in told) == (person.username, False)
    assert sent(bearer)["x-kith-jwt"] == token
    assert [elsewhere.status_code, own.status_code, after.status_code] == [401, 401, 401]


# Attacks on the sign-in


async def begun(visitor: Visitor, gateway: Gateway) -> str:
    """The address to which the server sends the browser back."""
    start = await visitor.ask(gateway.at("/outpost.kith/start"))
    back = await visitor.ask(start.headers["location"])
    location: str = back.headers["location"]
    assert location.startswith(gateway.at("/outpost.kith/callback?")), location
    return location


async def test_a_sign_in_ends_once_in_the_browser_that_began_it(town: Town, app: UpstreamApp) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    _, visitor = await visitor_of(town)
    back = await begun(visitor, gateway)
    stranger = Visitor(town)

    lured = await stranger.ask(back)
    first = await visitor.ask(back)
    held = dict(visitor.cookies[gateway.host])
    again = await visitor.ask(back)
    visitor.cookies[gateway.host] = held

    assert lured.headers["location"].startswith(f"{town.base_url}/application/o/authorize/")  # begun anew, as nobody
    assert gateway.host not in stranger.cookies or not await knows(stranger, gateway)
    assert (first.status_code, first.headers["location"]) == (302, gateway.at("/"))
    assert again.status_code == 302
    assert await knows(visitor, gateway)


def key_of(visitor: Visitor, gateway: Gateway) -> tuple[str, str]:
    [found] = [one for one in visitor.cookies[gateway.host].items() if one[0].startswith("kith_proxy_")]
    return found


async def knows(visitor: Visitor, gateway: Gateway) -> bool:
    return (await visitor.ask(gateway.at("/"))).status_code == 200


async def test_a_code_that_is_used_twice_ends_what_it_gave(town: Town, app: UpstreamApp) -> None:
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    _, visitor = await visitor_of(town)
    pending = Visitor(town)
    pending.browser = visitor.browser
    back = await begun(pending, gateway)
    before = dict(pending.cookies[gateway.host])
    await pending.ask(back)
    assert await knows(pending, gateway)
    thief = Visitor(town)
    thief.cookies[gateway.host] = before

    answer = await thief.ask(back)

    assert answer.status_code == 400
    assert not await knows(thief, gateway)
    assert not await knows(pending, gateway)


async def test_a_state_of_another_gateway_or_none_is_refused(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    one = await make_gateway(town, owner, internal_host=app.url)
    two = await make_gateway(town, owner, internal_host=app.url)
    _, visitor = await visitor_of(town)
    back = await begun(visitor, one)

    answers = [
        await visitor.ask(back.replace(one.url, two.url)),
        await visitor.ask(two.at("/outpost.kith/callback?code=x&state=eyJhbGciOiJub25lIn0.e30.")),
        await visitor.ask(two.at("/outpost.kith/callback?code=x")),
        await visitor.ask(two.at("/outpost.kith/callback")),
    ]

    assert [one.status_code for one in answers] == [400] * 4
    assert not await knows(visitor, two)


async def test_a_cookie_of_one_gateway_opens_no_other(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    one = await make_gateway(town, owner, internal_host=app.url)
    two = await make_gateway(town, owner, internal_host=app.url)
    _, visitor = await visitor_of(town)
    await visitor.follow(one.at("/"))
    name, key = key_of(visitor, one)
    other = await visitor.ask(two.at("/outpost.kith/start"))
    name_of_two, _ = key_of(visitor, two)

    tries = [f"{name}={key}", f"{name_of_two}={key}", f"x={key}; {name_of_two}={key}"]
    answers = [await Visitor(town).ask(two.at("/"), headers={"Cookie": held}) for held in tries]

    assert other.status_code == 302
    assert [one.status_code for one in answers] == [302] * 3


async def test_what_was_decided_for_one_is_not_given_to_another(town: Town, app: UpstreamApp) -> None:
    """The first Cookie header is what counts, and what the answer is kept under."""
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    _, visitor = await visitor_of(town)
    await visitor.follow(gateway.at("/"))
    name, key = key_of(visitor, gateway)
    lines = [f"GET / HTTP/1.1\r\nhost: {gateway.host}\r\ncookie: a=1\r\n", f"cookie: {name}={key}\r\n"]
    answers = []
    for more in (lines[1], ""):
        reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
        writer.write(f"{lines[0]}{more}connection: close\r\n\r\n".encode())
        answers.append(await reader.read())
        writer.close()

    assert [one.split(b" ")[1] for one in answers] == [b"302", b"302"]


@pytest.mark.parametrize("site", ["cross-site", "same-site", ""])
@pytest.mark.parametrize("path", ["/outpost.kith/sign_out", "/any?X-Kith-logout=true"])
async def test_another_site_cannot_sign_people_out_at_the_gateway(
    town: Town, app: UpstreamApp, site: str, path: str
) -> None:
    """It can lead them to the page that asks; what ends there, ends here."""
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url)
    person, visitor = await visitor_of(town)
    await visitor.follow(gateway.at("/"))

    out = await visitor.ask(gateway.at(path), headers={"Sec-Fetch-Site": site} if site else {})
    page, _ = await visitor.follow(out.headers["location"])

    assert "Do you want to sign out" in page.text
    assert await visitor.browser.who() == person.username
    assert sent(await visitor.ask(gateway.at("/")))["x-kith-username"] == person.username
    form = {"csrf": csrf_of(page), "component": "userlogout"}
    await visitor.browser.http.post(str(page.url), data=form)
    assert await visitor.browser.who() is None
    assert (await visitor.ask(gateway.at("/"))).status_code == 302
