"""What the gateway says is said to one person: no cache keeps it. And everybody is told the same name of a person."""

from __future__ import annotations

import httpx
import pytest

from tests.identity.gateway.gateways import Visitor, make_gateway, refuse_everybody, sent, visitor_of
from tests.identity.gateway.test_gateway_questions import KINDS, ask, enter, forward
from tests.identity.gateway.upstream_app import UpstreamApp
from tests.identity.records import owner_of, results
from tests.identity.relying_party import make_party
from tests.identity.saml_services import authn_request, make_service, name_of
from tests.town import Town


def check(answers: list[httpx.Response]) -> None:
    for answer in answers:
        assert answer.headers.get_list("cache-control") == ["no-store"], (answer.status_code, dict(answer.headers))


@pytest.mark.parametrize("kind", KINDS)
async def test_no_answer_to_a_proxy_is_kept(town: Town, kind: str) -> None:
    """To strangers, to those who are known, to those who are refused, and what is wrong."""
    gateway, closed = await forward(town, skip_path_regex="^/public/"), await forward(town)
    await refuse_everybody(await owner_of(town), closed)
    _, visitor = await visitor_of(town)
    stranger = Visitor(town)

    answers = [
        await ask(stranger, kind, gateway.at("/page")),
        await ask(stranger, kind, gateway.at("/page"), **{"Sec-Fetch-Mode": "cors"}),
        await ask(stranger, kind, gateway.at("/public/x")),
        await ask(visitor, kind, closed.at("/page")),
        await ask(visitor, kind, "http://nowhere.localhost/"),
        await town.http.get(f"/outpost.kith/auth/{kind}"),
        await town.http.get("/outpost.kith/auth/other"),
    ]
    await enter(visitor, gateway)
    answers += [await ask(visitor, kind, gateway.at("/page")) for _ in range(2)]

    assert answers[-1].headers["x-kith-username"]
    check(answers)


async def test_no_answer_of_the_gateway_itself_is_kept(town: Town, app: UpstreamApp) -> None:
    owner = await owner_of(town)
    gateway, closed = await make_gateway(town, owner, internal_host=app.url), await make_gateway(town, owner)
    dead = await make_gateway(town, owner, internal_host="http://127.0.0.1:1")
    await refuse_everybody(owner, closed)
    _, visitor = await visitor_of(town)
    stranger = Visitor(town)
    answers = [await stranger.ask(gateway.at(path)) for path in ("/", "/outpost.kith/start", "/outpost.kith/callback")]
    answers += [await stranger.ask(gateway.at("/"), headers={"Sec-Fetch-Mode": "cors"})]
    url = gateway.at("/")
    for _ in range(8):
        answer = await visitor.ask(url)
        if answer.status_code == 200:
            break
        if url.startswith(gateway.url):
            answers.append(answer)
        url = answer.headers["location"]
    refused, _ = await visitor.follow(closed.at("/"))
    gone, _ = await visitor.follow(dead.at("/"))
    out = await visitor.ask(gateway.at("/outpost.kith/sign_out"), headers={"Sec-Fetch-Site": "same-origin"})

    assert (gone.status_code, out.status_code) == (502, 302)
    assert refused.status_code == 403
    assert len(answers) >= 6
    check([*answers, gone, out])


async def test_what_the_application_says_to_one_person_is_no_matter_of_shared_caches(
    town: Town, app: UpstreamApp
) -> None:
    """Where it says nothing of caches itself. What everybody may have is left as it is."""
    gateway = await make_gateway(town, await owner_of(town), internal_host=app.url, skip_path_regex="^/public/")
    _, visitor = await visitor_of(town)

    shown, _ = await visitor.follow(gateway.at("/"))
    for_all = await Visitor(town).ask(gateway.at("/public/x"))

    assert sent(shown)["x-kith-username"]
    assert shown.headers["cache-control"] == "private"
    assert for_all.status_code == 200
    assert "cache-control" not in for_all.headers


async def test_a_person_has_one_name_for_all_applications(town: Town, app: UpstreamApp) -> None:
    """In the API, in tokens, behind a gateway, in SAML."""
    owner = await owner_of(town)
    person, visitor = await visitor_of(town)
    gateway = await make_gateway(town, owner, internal_host=app.url)
    party, oauth = await make_party(town, owner), await make_party(town, owner, "oauth", sub_mode="hashed_user_id")
    service = await make_service(town)
    [user] = await results(owner, "/core/users/", username=person.username)

    told = await party.read((got := await party.tokens(visitor.browser))["id_token"])
    userinfo = (await party.userinfo(got["access_token"])).json()
    introspected = (await party.post("introspect", token=got["access_token"])).json()
    other = await oauth.tokens(visitor.browser)
    name, name_format = name_of(service.assertion(await service.ask(visitor.browser, authn_request())))
    behind, _ = await visitor.follow(gateway.at("/"))
    me = (await visitor.browser.http.get("/api/v2/core/users/me/")).json()["user"]

    uid = user["uid"]
    assert len(uid) == 64
    assert (told["sub"], userinfo["sub"], introspected["sub"]) == (uid, uid, uid)
    assert (await oauth.userinfo(other["access_token"])).json()["sub"] == uid
    assert (name, name_format.rpartition(":")[2]) == (uid, "unspecified")
    assert sent(behind)["x-kith-uid"] == uid
    assert me["uid"] == uid
