"""/core/tokens/: keys for programs. Owners see their own, those who may see them all see them all.

What a token makes or changes is never more than the token itself: neither its scopes, nor its end, nor what it is for.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kith.base.work import Work
from kith.identity.confirmation import FIELD, confirm, refuse_app_password
from kith.identity.rest import Draft, Resource
from kith.identity.rest.fields import Boolean, Choice, Input, Moment, Reference, Slug, Text, Told
from kith.identity.scopes import IDENTITY, within
from kith.identity.scopes import complain as complain_scopes
from kith.identity.tokens.service import PREFIX, hash_key
from kith.identity.tokens.tables import tokens
from kith.identity.users.rank import refuse_if_above

DEFAULT_LIFE = timedelta(days=1)
_OWN = ("api", "app_password")

FIELDS = (
    Slug("identifier", most=255),
    Choice(name="intent", default="api", choices=("api", "app_password", "verification", "recovery")),
    Reference(name="user", to="identity_users.id", integer=True, on_delete="CASCADE", stored_as="user_id"),
    Text(name="description", default=""),
    Text(name="scopes", default="api", most=2000),
    Moment(name="expires", null=True, default=None, stored_as="expires_at"),
    Boolean(name="expiring", default=True, kept=False, help="False: it never ends."),
    Moment(name="last_used", null=True, read_only=True, stored_as="last_used_at"),
    Told(name="key", form={"type": "string", "description": "Only in the answer that made it."}),
    Input(name=FIELD, help="The caller's own password, where the sign-in is not fresh."),
)


async def check(draft: Draft) -> None:
    given = draft.values.pop(FIELD, None) or None
    if draft.is_new:
        _begin(draft)
    if draft.sets("user") and not draft.is_new:
        draft.complain("user", "User cannot be changed")
    if draft.sets("intent") and draft.now("intent") not in _OWN:
        draft.complain("intent", f"Invalid intent {draft.now('intent')}")
    if draft.sets("scopes"):
        wrong = complain_scopes(str(draft.now("scopes")).split())
        if wrong is not None:
            draft.complain("scopes", wrong)
    if draft.now("user") != draft.caller.id:
        await _check_owner(draft)
    _set_end(draft)
    _hold_to_token(draft)
    draft.raise_complaints()
    if not _widens(draft):
        return
    if draft.now("user") == draft.caller.id:
        await confirm(draft.work, draft.caller, given)
    refuse_app_password(draft.caller)


def _begin(draft: Draft) -> None:
    key = PREFIX + secrets.token_urlsafe(32)
    draft.columns["key_hash"] = hash_key(key)
    draft.values["user"] = draft.values.get("user") or draft.caller.id
    draft.values["identifier"] = draft.values.get("identifier") or f"{draft.now('intent')}-{secrets.token_hex(8)}"
    draft.once["key"] = key


async def _check_owner(draft: Draft) -> None:
    """Of somebody else's tokens: whoever makes or widens one can be that person."""
    if not draft.is_new or draft.caller.may("core.add_token"):
        await refuse_if_above(draft.work, draft.caller, draft.now("user"), "make or change a token of")
    else:
        draft.complain("user", "You may only make tokens for yourself.", "permission_denied")


def _set_end(draft: Draft) -> None:
    if "expiring" in draft.values and not draft.values["expiring"]:
        draft.values["expires"] = None
    elif draft.is_new and draft.values.get("expires") is None:
        usual, until = draft.work.now + DEFAULT_LIFE, draft.caller.until
        draft.values["expires"] = usual if until is None else min(usual, until)


def _hold_to_token(draft: Draft) -> None:
    caller = draft.caller
    if caller.way not in ("token", "app_password"):
        return
    if draft.sets("intent") and draft.now("intent") != "api":
        draft.complain("intent", "A token makes no app passwords: sign in for that.", "permission_denied")
    if draft.sets("scopes") and not within(_scopes(draft.now("scopes"), draft.now("intent")), caller.scopes or ()):
        draft.complain("scopes", "A token cannot give more scopes than it has itself.", "permission_denied")
    if draft.sets("expires") and _is_later(draft.now("expires"), caller.until):
        draft.complain("expires", "A token cannot make one that ends later than it does itself.", "permission_denied")


def _widens(draft: Draft) -> bool:
    """Whether somebody can do more with it afterwards than before."""
    if draft.before is None:
        return True
    before = _scopes(draft.before["scopes"], draft.before["intent"])
    return (
        draft.sets("intent")
        or not within(_scopes(draft.now("scopes"), draft.now("intent")), before)
        or _is_later(draft.now("expires"), draft.before["expires"])
    )


def _scopes(text: str, intent: str) -> Sequence[str]:
    """An app password without any opens the identity API."""
    return text.split() or ([IDENTITY] if intent == "app_password" else [])


def _is_later(end: datetime | None, than: datetime | None) -> bool:
    """None is never."""
    return than is not None and (end is None or end > than)


async def removing(work: Work, record: dict[str, Any]) -> None:
    if record["user"] != record["caller"].id:
        await refuse_if_above(work, record["caller"], record["user"], "delete a token of")


async def decorate(_work: Work, records: list[dict[str, Any]]) -> None:
    for record in records:
        record["expiring"] = record["expires"] is not None


RESOURCE = Resource(
    path="/core/tokens/",
    record="Token",
    key="token_uuid",
    table=tokens,
    fields=FIELDS,
    search=("identifier", "intent", "description"),
    order=("identifier",),
    exact=("identifier", "intent", "user"),
    label="identifier",
    own="user",
    ahead=check,
    removing=removing,
    decorate=decorate,
)
