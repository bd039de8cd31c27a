"""/admin/people/bulk: one thing done to several people, after a rehearsal that says what will happen.

The rehearsal does it, and takes it back: whatever would be refused is refused there already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import parse_qsl

import msgspec

from kith.base.errors import Invalid, NotFound, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import post
from kith.identity import for_pages as identity
from kith.social.admin.people import PersonLine, people_by_id
from kith.web import own_api
from kith.web.admin.console_rights import ConsoleRights, find_rights
from kith.web.admin.frame import admin_page
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["ACTIONS", "actions_for", "routes"]

MOST = 100
Call = tuple[str, str, dict[str, Any] | None]  # method, path (with its query), what is sent


class BulkAction(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be done to people. `ends`: for good, and not only until it is undone."""

    words: str
    needs: tuple[str, ...]
    says: str  # what will happen to each
    call: Callable[[PersonLine, dict[str, str]], Call]
    already: str = ""  # the state in which it changes nothing
    asks: str = ""  # what else must be said: `group` or `reason`
    ends: Literal["", "sessions", "everything"] = ""
    social: bool = False  # it is done to the account

    @property
    def must_say(self) -> bool:
        """Whoever is limited or suspended may be told no more than that."""
        return bool(self.asks) and not self.social


def _user(way: str, sent: dict[str, Any] | None = None, method: str = "POST") -> Callable[..., Call]:
    return lambda line, _more: (method, f"/api/v2/core/users/{line.id}/{way}", sent)


def _account(way: str, sent: dict[str, Any] | None = None) -> Callable[..., Call]:
    return lambda line, more: (
        "POST",
        f"/api/v1/admin/accounts/{line.account_id}/{way}",
        None if sent is None else {**sent, "text": more["reason"]},
    )


def _member(way: str) -> Callable[..., Call]:
    return lambda line, more: ("POST", f"/api/v2/core/groups/{more['group']}/{way}/", {"pk": line.id})


def _sessions(line: PersonLine, _more: dict[str, str]) -> Call:
    return "DELETE", f"/api/v2/core/authenticated_sessions/bulk_delete/?user_pks={line.id}", None


def _lockdown(line: PersonLine, more: dict[str, str]) -> Call:
    return "POST", f"/api/v2/core/users/{line.id}/lockdown/", {"reason": more["reason"]}


ACTIONS: dict[str, BulkAction] = {
    "approve": BulkAction(
        words=translatable("Approve sign-up"),
        needs=("core.change_user", "manage_users"),
        says=translatable("Can sign in from now on, and gets an e-mail that says so."),
        call=_user("approve/"),
        already="active",
    ),
    "reject": BulkAction(
        words=translatable("Reject sign-up"),
        needs=("core.delete_user", "manage_users"),
        says=translatable("Is turned down; the account is deleted."),
        call=_user("reject/"),
    ),
    "enable": BulkAction(
        words=translatable("Enable"),
        needs=("core.change_user",),
        says=translatable("Can sign in again."),
        call=_user("", {"is_active": True}, "PATCH"),
        already="active",
    ),
    "disable": BulkAction(
        words=translatable("Disable"),
        needs=("core.change_user",),
        says=translatable("Cannot sign in, and apps are refused, until enabled again. A lockdown ends them for good."),
        call=_user("", {"is_active": False}, "PATCH"),
        already="disabled",
        ends="sessions",
    ),
    "end_sessions": BulkAction(
        words=translatable("Sign out everywhere"),
        needs=("core.delete_authenticatedsession",),
        says=translatable("Has to sign in again in every browser."),
        call=_sessions,
        ends="sessions",
    ),
    "join": BulkAction(
        words=translatable("Add to a group"),
        needs=("core.change_group",),
        says=translatable("Becomes a member of the group."),
        call=_member("add_user"),
        asks="group",
    ),
    "leave": BulkAction(
        words=translatable("Remove from a group"),
        needs=("core.change_group",),
        says=translatable("Is no longer a member of the group."),
        call=_member("remove_user"),
        asks="group",
    ),
    "silence": BulkAction(
        words=translatable("Limit"),
        needs=("manage_users",),
        says=translatable("Only followers see the posts. The person is told."),
        call=_account("action", {"type": "silence"}),
        already="silenced",
        asks="reason",
        social=True,
    ),
    "unsilence": BulkAction(
        words=translatable("Lift the limit"),
        needs=("manage_users",),
        says=translatable("Everybody sees the posts again."),
        call=_account("unsilence"),
        already="active",
        social=True,
    ),
    "suspend": BulkAction(
        words=translatable("Suspend"),
        needs=("manage_users",),
        says=translatable(
            "Profile and posts are hidden, and deleted after 30 days; apps are refused. The person is told."
        ),
        call=_account("action", {"type": "suspend"}),
        already="suspended",
        asks="reason",
        ends="sessions",
        social=True,
    ),
    "unsuspend": BulkAction(
        words=translatable("Lift the suspension"),
        needs=("manage_users",),
        says=translatable("Profile and posts are there again."),
        call=_account("unsuspend"),
        social=True,
    ),
    "lockdown": BulkAction(
        words=translatable("Lock down"),
        needs=("core.lockdown_user",),
        says=translatable("Everything ends at once, and the password is removed. The person is told."),
        call=_lockdown,
        asks="reason",
        ends="everything",
    ),
    "delete": BulkAction(
        words=translatable("Delete for good"),
        needs=("core.delete_user",),
        says=translatable("The account and everything that belongs to it is deleted. This cannot be undone."),
        call=_user("", None, "DELETE"),
        ends="everything",
    ),
}


# What is possible in these states only.
_ONLY = {
    "approve": ("pending",),
    "reject": ("pending",),
    "enable": ("disabled",),
}


def actions_for(rights: ConsoleRights, line: PersonLine | None = None, state: str = "") -> list[tuple[str, BulkAction]]:
    """What the visitor may do; to one person, what would change something."""
    allowed = [(name, one) for name, one in ACTIONS.items() if rights.may(*one.needs)]
    if line is None:
        return allowed
    return [(name, one) for name, one in allowed if _would_change(name, one, line, state)]


def _would_change(name: str, action: BulkAction, line: PersonLine, state: str) -> bool:
    """Somebody who is disabled can be limited or suspended besides, which the account says, and not the state."""
    if name == "unsilence":
        return line.silenced_at is not None
    if name == "unsuspend":
        return line.suspended_at is not None
    if action.social and line.account_id is None:
        return False
    return state in _ONLY.get(name, (state,)) and (not action.already or state != action.already)


class BulkOutcome(msgspec.Struct):
    """What happens to one person; `problem` says why nothing does."""

    line: PersonLine
    problem: str = ""
    ends: identity.lockdown.LockdownCounts | None = None


@post("/admin/people/bulk", status=200)
async def act(exchange: Exchange) -> Answer:
    """First the rehearsal, then (where `confirm` says so) the deed."""
    _, form = await read_own_form(exchange)
    rights = await find_rights(exchange)
    if rights is None:
        return admin_page(exchange, "people/bulk.html", None)
    name = text_field(form, "action")
    action = ACTIONS.get(name)
    if action is None or not rights.may(*action.needs):
        raise NotFound
    lines = await people_by_id(exchange.work, _ids(form))
    more = {"group": identity.read_uuid(text_field(form, "group")) or "", "reason": text_field(form, "reason")}
    missing = action.asks if action.must_say and not more[action.asks] else ""
    is_done = form.get("confirm") == "true" and not missing
    outcomes = [] if missing else [await _try(exchange, action, line, more, keep=is_done) for line in lines]
    return admin_page(
        exchange,
        "people/bulk.html",
        rights.visitor,
        status=400 if missing and form.get("confirm") == "true" else 200,
        name=name,
        action=action,
        more=more,
        lines=lines,
        missing=missing,
        outcomes=outcomes,
        is_done=is_done,
        back=identity.safe_path(text_field(form, "next"), "/admin/people"),
        groups=await _groups(exchange) if action.asks == "group" else [],
    )


def _ids(form: dict[str, Any]) -> list[int]:
    given = form.get("ids", [])
    listed = given if isinstance(given, list) else [given]
    whole = [int(one) for one in listed if isinstance(one, str) and one.isascii() and one.isdigit() and len(one) < 10]
    return list(dict.fromkeys(whole))[:MOST]


async def _groups(exchange: Exchange) -> list[tuple[str, str]]:
    told = await own_api.ask(exchange, "/api/v2/core/groups/", limit=200, ordering="name")
    return [(one["pk"], one["name"]) for one in told["results"]]


async def _try(
    exchange: Exchange, action: BulkAction, line: PersonLine, more: dict[str, str], *, keep: bool
) -> BulkOutcome:
    """Each in a transaction of its own, so that one refusal stops nobody else's."""
    work = exchange.work
    if action.already and line.state(work.now) == action.already:
        return BulkOutcome(line, translatable("Is so already; nothing changes."))
    if action.social and line.account_id is None:
        return BulkOutcome(line, translatable("Has no account in the community yet."))
    ends = await identity.lockdown.count(work, line.id) if action.ends else None
    method, path, sent = action.call(line, more)
    path, _, query = path.partition("?")
    pairs = parse_qsl(query)
    try:
        await own_api.call(exchange, method, path, query=pairs, json=sent)
    except Problem as problem:
        await exchange.end_work(commit=False)
        return BulkOutcome(line, _why(problem))
    await exchange.end_work(commit=keep)
    return BulkOutcome(line, ends=ends)


def _why(problem: Problem) -> str:
    if isinstance(problem, Invalid) and problem.fields:
        return " ".join(str(words) for said in problem.fields.values() for words in said)
    return problem.message or translatable("You may not do this.")


routes = [act]
