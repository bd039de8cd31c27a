"""/admin/people/ID: everything that both halves know of one person, and everything that can be done."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.social.admin.people import PersonLine, people_by_id
from kith.social.ids import AccountId
from kith.social.moderation import store as moderation
from kith.social.roles import store as roles
from kith.web import own_api
from kith.web.admin.bulk import actions_for
from kith.web.admin.console_rights import ConsoleRights, known_rights
from kith.web.admin.frame import admin_page, enter
from kith.web.admin.people import STATE_WORDS
from kith.web.admin.words.events import event_words
from kith.web.admin.words.lookup import place_words
from kith.web.settings.forms import read_own_form
from kith.web.translation import translatable

__all__ = ["routes"]

SOME = 20


class PersonTab(msgspec.Struct, frozen=True):
    """A part of a person's page; whoever has one of the permissions sees it."""

    name: str
    words: str
    needs: tuple[str, ...]


TABS = (
    PersonTab("", translatable("Overview"), ("core.view_user", "manage_users")),
    PersonTab("signins", translatable("Signing in"), ("core.view_authenticatedsession", "audit.view_event")),
    PersonTab("access", translatable("Groups and applications"), ("core.view_user",)),
    PersonTab("posts", translatable("Posts and reports"), ("manage_users", "manage_reports")),
    PersonTab("audit", translatable("What they did"), ("audit.view_event",)),
)


@get("/admin/people/{id}")
async def show_person(exchange: Exchange, id: FromPath[str]) -> Answer:
    return await _tab(exchange, id, "")


@get("/admin/people/{id}/{tab}")
async def show_tab(exchange: Exchange, id: FromPath[str], tab: FromPath[str]) -> Answer:
    return await _tab(exchange, id, tab)


async def _tab(exchange: Exchange, id: str, name: str) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "people/person.html", None)
    rights = known_rights(exchange)
    rights.need("core.view_user", "manage_users")
    tab = next((one for one in TABS if one.name == name), None)
    if tab is None:
        raise NotFound
    rights.need(*tab.needs)
    line = await _find(exchange, id)
    shown = await _SHOWN[name](exchange, rights, line)
    return admin_page(
        exchange,
        f"people/{name or 'person'}.html",
        visitor,
        line=line,
        state=line.state(exchange.work.now),
        state_words=STATE_WORDS,
        tabs=[one for one in TABS if rights.may(*one.needs)],
        tab=name,
        **shown,
    )


@post("/admin/people/{id}/recovery")
async def make_recovery_link(exchange: Exchange, id: FromPath[str]) -> Answer:
    """The answer is the one place where the link is ever shown, so it is the page itself."""
    await read_own_form(exchange)
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "people/person.html", None)
    line = await _find(exchange, id)
    told = await own_api.call(exchange, "POST", f"/api/v2/core/users/{line.id}/recovery/")
    return admin_page(
        exchange,
        "revealed.html",
        visitor,
        status=201,
        heading=translatable("This person"),
        name=line.name or line.username,
        list_at=f"/admin/people/{line.id}",
        words=translatable(
            "Give this link to the person: it signs them in once, within an hour. It is not shown again."
        ),
        secret=msgspec.json.decode(told.body)["link"],
    )


async def _find(exchange: Exchange, id: str) -> PersonLine:
    if not (id.isascii() and id.isdigit() and len(id) < 10):
        raise NotFound
    found = await people_by_id(exchange.work, [int(id)])
    if not found:
        raise NotFound
    return found[0]


async def _overview(exchange: Exchange, rights: ConsoleRights, line: PersonLine) -> dict[str, Any]:
    record, account = None, None
    if rights.may("core.view_user"):
        record = await own_api.ask(exchange, f"/api/v2/core/users/{line.id}/")
    if rights.may("manage_users") and line.account_id is not None:
        account = await own_api.ask(exchange, f"/api/v1/admin/accounts/{line.account_id}")
    may_give = rights.may("manage_roles") and line.account_id is not None
    return {
        "record": record,
        "account": account,
        "actions": actions_for(rights, line, line.state(exchange.work.now)),
        "roles": (await roles.load(exchange.work.db)).listed if may_give else [],
        "own_role": line.role_id,
    }


async def _signins(exchange: Exchange, rights: ConsoleRights, line: PersonLine) -> dict[str, Any]:
    sessions, events = None, None
    if rights.may("core.view_authenticatedsession"):
        path = "/api/v2/core/authenticated_sessions/"
        sessions = (await own_api.ask(exchange, path, user=line.id, limit=SOME))["results"]
    if rights.may("audit.view_event"):
        told = [
            (await own_api.ask(exchange, "/api/v2/audit/events/", user=line.id, action=action, limit=SOME))["results"]
            for action in ("login", "login_failed")
        ]
        events = sorted(told[0] + told[1], key=lambda one: str(one["created"]), reverse=True)[:SOME]
    factors = await identity.staff.list_factors(exchange.work, line.id)
    return {"sessions": sessions, "events": events, "factors": factors}


async def _access(exchange: Exchange, rights: ConsoleRights, line: PersonLine) -> dict[str, Any]:
    groups, tokens = None, None
    if rights.may("core.view_group"):
        path = "/api/v2/core/groups/"
        groups = (await own_api.ask(exchange, path, members_by_username=line.username, limit=100))["results"]
    if rights.may("core.view_token"):
        tokens = (await own_api.ask(exchange, "/api/v2/core/tokens/", user=line.id, limit=100))["results"]
    may_see = rights.may("core.view_application")
    return {
        "groups": groups,
        "tokens": tokens,
        "entries": await identity.library(exchange.work, line.id, exchange.address) if may_see else None,
    }


async def _posts(exchange: Exchange, rights: ConsoleRights, line: PersonLine) -> dict[str, Any]:
    if line.account_id is None:
        return {"posts": [], "reports": [], "strikes": []}
    posts = await own_api.ask(exchange, f"/api/v1/accounts/{line.account_id}/statuses", limit=SOME)
    reports: list[Any] = []
    if rights.may("manage_reports"):
        reports = await own_api.ask(
            exchange,
            "/api/v1/admin/reports",
            target_account_id=line.account_id,
            resolved=True,
            unresolved=True,
            limit=SOME,
        )
    cursor = Cursor.read(b"", default=SOME, most=SOME, kind=CursorKind.RECORD3)
    strikes = await moderation.page_of_strikes(exchange.work.db, AccountId(line.account_id), cursor)
    return {"posts": posts, "reports": reports, "strikes": strikes}


async def _audit(exchange: Exchange, _rights: ConsoleRights, line: PersonLine) -> dict[str, Any]:
    told = await own_api.ask(exchange, "/api/v2/audit/events/", user=line.id, limit=50)
    events = [{**one, "words": event_words(one["action"]), "place": place_words(one["app"])} for one in told["results"]]
    return {"events": events, "count": told["count"]}


_SHOWN = {"": _overview, "signins": _signins, "access": _access, "posts": _posts, "audit": _audit}

routes = [show_person, show_tab, make_recovery_link]
