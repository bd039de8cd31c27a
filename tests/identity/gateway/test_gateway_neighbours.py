"""nginx and Caddy as Debian ships them, set up as docs/gateway.md says, with the gateway behind them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.identity.gateway.gateways import Visitor, make_gateway, refuse_everybody, sent, visitor_of
from tests.identity.gateway.servers import caddy, nginx
from tests.identity.gateway.upstream_app import UpstreamApp
from tests.identity.records import owner_of, results
from tests.identity.test_oauth_sessions import code_on
from tests.identity.test_refusals import kept
from tests.town import Town
from tests.town.ports import ReservedPort

DOCS = Path(__file__).parents[3] / "docs" / "gateway.md"


def documented(language: str, town: Town, app: UpstreamApp, port: int) -> str:
    """The example of the manual, with the addresses of this test."""
    found = re.search(rf"```{language}\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert found is not None
    text = (
        found[1].replace("127.0.0.1:8000", f"127.0.0.1:{town.port}").replace("127.0.0.1:8080", f"127.0.0.1:{app.port}")
    )
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace("server_name wiki.example.org;", "")
    text = text.replace("$host", "$host:$server_port")  # as the manual says of other ports
    return text.replace("wiki.example.org {", f"http://:{port} {{\n    bind 127.0.0.1")


Start = Callable[[Path, str, int], AbstractAsyncContextManager[int]]


@pytest.fixture(params=["nginx", "caddy"])
async def outside(
    request: pytest.FixtureRequest, town: Town, app: UpstreamApp, tmp_path: Path
) -> AsyncIterator[tuple[str, int]]:
    """The outer proxy's name and port."""
    kind: str = request.param
    start: Start = {"nginx": nginx, "caddy": caddy}[kind]
    with ReservedPort() as port:
        async with start(tmp_path, documented(kind, town, app, port.number), port.number):
            yield kind, port.number


async def test_people_sign_in_once_and_the_application_behind_learns_who_they_are(
    town: Town, app: UpstreamApp, outside: tuple[str, int]
) -> None:
    _, port = outside
    owner = await owner_of(town)
    gateway = await make_gateway(
        town, owner, port=port, mode="forward_single", internal_host="", skip_path_regex="^/public/"
    )
    person, visitor = await visitor_of(town)
    made_up = {"X-Kith-Username": "root", "X-Kith-Groups": "admins", "X_Kith_Uid": "1"}

    answer, where = await visitor.follow(gateway.at("/page?a=1&b=2"))
    spoofed = await visitor.ask(gateway.at("/other"), headers=made_up)
    opened = await Visitor(town).ask(gateway.at("/public/x"), headers=made_up)
    closed = await Visitor(town).ask(gateway.at("/public/%2e%2e/admin"), headers=made_up)

    assert (where, sent(answer)["x-kith-username"]) == (gateway.at("/page?a=1&b=2"), person.username)
    told = sent(spoofed)
    assert (told["x-kith-username"], told.get("x-kith-groups", "")) == (person.username, "")
    assert not sent(opened).get("x-kith-username")
    assert closed.status_code == 302


async def test_what_ends_ends_behind_them_too(town: Town, app: UpstreamApp, outside: tuple[str, int]) -> None:
    _, port = outside
    owner = await owner_of(town)
    gateway = await make_gateway(town, owner, port=port, mode="forward_single", internal_host="")
    person, visitor = await visitor_of(town)
    other, other_visitor = await visitor_of(town)
    await visitor.follow(gateway.at("/"))
    await other_visitor.follow(gateway.at("/"))
    [user] = await results(owner, "/core/users/", username=other.username)
    asked = app.asked

    await owner.call("PATCH", f"/api/v2/core/users/{user['pk']}/", json={"is_active": False})
    disabled = await other_visitor.ask(gateway.at("/"))
    await refuse_everybody(owner, gateway)
    refused, _ = await visitor.follow(gateway.at("/"))

    assert disabled.status_code == 302
    assert refused.status_code == 403
    assert (await kept(town, code_on(refused))).username == person.username
    assert app.asked == asked
