"""Forms that other sites make browsers send are refused by every page that takes any, and change nothing; no page stands
in another site's frame, tells other sites where somebody was, or is kept by a proxy."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from fnmatch import fnmatchcase

import pytest

from kith.web.room import ROOM
from tests.identity.saml_idps import make_source
from tests.town import Town, build_town
from tests.web.browsing import Browser
from tests.web.page_addresses import FOR_EVERYBODY, FOR_MEMBERS, FOR_OWNERS, REFUSED
from tests.web.scenery import Scenery, build_scenery, person_of

# What other sites or programs send on purpose, and what a link in a mail or a token stands for: none of it acts by
# the session of whoever's browser sends it.
FROM_ELSEWHERE = (
    "/flows/-/default/{designation}/",  # sends a form on to the flow, unread
    "/setup/{token}",
    "/unsubscribe/{key}",
    "/appeal/{id}/{key}",
    "/source/saml/{slug}/acs/",
    "/source/saml/{slug}/slo/",
    "/source/oauth/logout/{slug}/",
    "/application/*",
    "/saml/*",
    "/api/*",
)
# More addresses of routes that stand for many.
EXAMPLES = {
    "/web/api/{path:path}": (
        "/web/api/v1/statuses",
        "/web/api/v1/accounts/1/block",
        "/web/api/v1/admin/accounts/1/action",
        "/web/api/v2/filters",
        "/web/api/v2/core/users/",
    ),
    "/flows/{slug}/": ("/flows/default-authentication-flow/", "/flows/default-password-change/"),
    "/staff/flows/{slug}/": ("/staff/flows/default-password-change/",),
    "/source/oauth/login/{slug}/": ("/source/oauth/login/elsewhere/",),
    "/source/saml/{slug}/": ("/source/saml/office/",),
    "/admin/records/{path:path}": ("/admin/records/core/users/new", "/admin/records/core/groups/new"),
}
# When somebody was last here, the trail of what was refused, and what workers do meanwhile.
MOVES = ("base_", "sqlite_", "identity_events", "identity_sessions", "identity_refusals", "identity_flow_runs",
         "social_presence", "social_days")  # fmt: skip


def addresses() -> Iterator[str]:
    for route in ROOM.routes:
        if not set(route.methods) & {"POST", "PUT", "PATCH", "DELETE"}:
            continue
        for template in (route.template, *route.aliases):
            if not any(fnmatchcase(template, one) for one in FROM_ELSEWHERE):
                yield from EXAMPLES.get(template, (re.sub(r"\{[^}]+\}", "1", template),))


@pytest.fixture(scope="module")
async def scenery(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenery]:
    """One database is enough: what is refused never comes to one."""
    async with build_town("sqlite", tmp_path_factory.mktemp("forged")) as town:
        built = await build_scenery(town)
        await make_source(town, name="Office", slug="office")
        yield built


@pytest.fixture(scope="module")
async def owner(scenery: Scenery) -> AsyncIterator[Browser]:
    browser = Browser(scenery.town)
    await browser.sign_in(scenery.owner.username, scenery.owner.password)
    yield browser
    await browser.close()


def content(town: Town) -> dict[str, str]:
    """A digest of each table."""
    with closing(sqlite3.connect(f"file:{town.folder / 'kith.sqlite3'}?mode=ro", uri=True)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: hashlib.sha256(repr(database.execute(f'SELECT * FROM "{name}"').fetchall()).encode()).hexdigest()
            for name in names
            if not name.startswith(MOVES)
        }


async def test_a_form_from_another_site_is_refused_everywhere(scenery: Scenery, owner: Browser) -> None:
    stranger = Browser(scenery.town)
    await stranger.open("/about")
    theirs, own = stranger.cookie("kith_csrf") or "", owner.cookie("kith_csrf") or ""
    assert theirs != own
    await stranger.close()
    elsewhere = {"Origin": "https://evil.example"}
    ways: dict[str, tuple[dict[str, str], dict[str, str]]] = {
        "without a token": ({}, {}),
        "with somebody else's": ({"csrf": theirs}, {}),
        "with a token of their own making": ({"csrf": "x." + "0" * 32}, {}),
        "from another origin": ({"csrf": own}, elsewhere),
        "from a neighbour": ({"csrf": own}, {"Origin": "null", "Sec-Fetch-Site": "same-site"}),
    }
    fields = {
        "status": "Forged", "username": "forged", "name": "forged", "language": "de", "do": "remove", "title": "Forged",
        "comment": "Forged", "account_id": scenery.values["bob_id"], "domain": "forged.example", "password": scenery.owner.password,
    }  # fmt: skip
    before = await asyncio.to_thread(content, scenery.town)
    tried = list(addresses())
    assert len(tried) > 60

    taken: list[tuple[str, str, int]] = []
    for address in tried:
        for way, (token, headers) in ways.items():
            answer = await owner.http.post(address, data=fields | token, headers=headers)
            if answer.status_code != 403 or "CSRF Failed" not in answer.text:
                taken.append((address, way, answer.status_code))
    assert taken == []

    after = await asyncio.to_thread(content, scenery.town)
    assert {name for name in before | after if before.get(name) != after.get(name)} == set()
    right = {"Origin": scenery.town.base_url, "Sec-Fetch-Site": "same-origin"}
    sent = {"status": "Mine", "csrf": own}
    assert (await owner.http.post("/web/api/v1/statuses", data=sent, headers=right)).status_code == 303
    changed = await asyncio.to_thread(content, scenery.town)
    assert changed["social_statuses"] != before["social_statuses"]


async def test_the_session_alone_does_not_call_the_api(scenery: Scenery, owner: Browser) -> None:
    own = owner.cookie("kith_csrf") or ""
    for path in ("/api/v1/statuses", "/api/v1/admin/domain_blocks", "/api/v2/core/groups/"):
        for headers in ({}, {"X-CSRF-Token": own, "Origin": "https://evil.example"}):
            answer = await owner.http.post(path, json={"status": "Forged", "name": "forged"}, headers=headers)
            # 401 of the social API, 403 of the other: each in its own dialect.
            assert answer.status_code in (401, 403), (path, headers, answer.status_code)


@pytest.mark.parametrize("who", ["nobody", "ada", "owner"])
async def test_no_page_is_framed_or_kept_by_others(scenery: Scenery, owner: Browser, who: str) -> None:
    browser = owner
    if who != "owner":
        browser = Browser(scenery.town)
    if who == "ada":
        await browser.sign_in(scenery.ada.name, person_of(scenery.ada).password)
    table = {"nobody": FOR_EVERYBODY, "ada": FOR_MEMBERS, "owner": FOR_OWNERS}[who]
    for address in table:
        answer = await browser.open(scenery.filled(address))
        assert answer.status_code == REFUSED.get(address, 200), address
        if address.endswith("/embed"):  # made for frames of other sites: there is nothing on it to be tricked into
            assert "<form" not in answer.text
            assert "set-cookie" not in answer.headers
            continue
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy, address
        assert answer.headers["x-frame-options"] == "DENY", address
        assert answer.headers["referrer-policy"] == "no-referrer", address
        assert answer.headers["x-content-type-options"] == "nosniff", address
        # The page for lack of network is kept by the browser, which is what it is for; it names nobody.
        assert ("no-cache" if address == "/offline" else "no-store") in answer.headers["cache-control"], address
        for part in ("default-src 'none'", "base-uri 'none'", "script-src 'self'", "style-src 'self'"):
            assert part in policy, (address, policy)
        assert "unsafe" not in policy, address
    if browser is not owner:
        await browser.close()


@pytest.mark.parametrize(
    "path",
    [
        "/oauth/token", "/oauth/revoke", "/confirm/x", "/publish", "/settings/profile", "/settings/import",
        "/settings/language", "/web/api/v1/statuses", "/flows/default-authentication-flow/", "/admin/emoji",
    ],
)  # fmt: skip
async def test_files_of_strangers_are_not_kept(town: Town, path: str) -> None:
    """Not until it is found out that nobody had asked for them either."""
    answer = await town.http.post(path, files={"file": ("x.png", b"x" * (3 << 19), "image/png")})

    assert answer.status_code == 413
