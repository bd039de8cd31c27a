"""/core/tokens/: tokens for programs. People see their own; a permission is needed for others'.

A request with a token cannot make or change one to have more scopes, a later end or another intent than its own.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

import msgspec

from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.reauthentication import FIELD, refuse_app_password, require_current_password
from kith.identity.rest import RecordDraft, Resource
from kith.identity.rest.ends import is_later
from kith.identity.rest.fields import Boolean, Choice, Computed, Input, Moment, Reference, Slug, Text
from kith.identity.rest.record import Record
from kith.identity.scopes import complain as complain_scopes
from kith.identity.scopes import within
from kith.identity.tokens import store
from kith.identity.tokens.service import PREFIX, hash_key, scopes_of, tell_end
from kith.identity.tokens.tables import tokens
from kith.identity.users.privileges import refuse_if_above

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
    Computed(name="key", form={"type": "string", "description": "Only in the answer that made it."}),
    Input(name=FIELD, help="The caller's own password, where the sign-in is not fresh."),
)


class TokenRecord(Record, kw_only=True):
    pk: str
    token_uuid: str
    identifier: str
    intent: str
    user: int
    description: str
    scopes: str
    expires: datetime | None
    expiring: bool = False
    last_used: datetime | None
    key: str | msgspec.UnsetType = msgspec.UNSET  # only in the answer that made it
    created: datetime


async def check(draft: RecordDraft[TokenRecord]) -> None:
    given = draft.values.pop(FIELD, None) or None
    if draft.is_new:
        _begin(draft)
    if draft.sets("user") and not draft.is_new:
        draft.complain("user", "User cannot be changed")
    if draft.sets("intent") and draft.now.intent not in _OWN:
        draft.complain("intent", f"Invalid intent {draft.now.intent}")
    if draft.sets("scopes"):
        wrong = complain_scopes(str(draft.now.scopes).split())
        if wrong is not None:
            draft.complain("scopes", wrong)
    if draft.now.user != draft.caller.id:
        await _check_owner(draft)
    _set_end(draft)
    _hold_to_token(draft)
    draft.raise_complaints()
    if not _widens(draft):
        return
    if draft.now.user == draft.caller.id:
        await require_current_password(draft.work, draft.caller, given)
    refuse_app_password(draft.caller)


def _begin(draft: RecordDraft[TokenRecord]) -> None:
    key = PREFIX + secrets.token_urlsafe(32)
    draft.columns["key_hash"] = hash_key(key)
    draft.now.user = draft.values.get("user") or draft.caller.id
    draft.now.identifier = draft.values.get("identifier") or f"{draft.now.intent}-{secrets.token_hex(8)}"
    draft.once["key"] = key


async def _check_owner(draft: RecordDraft[TokenRecord]) -> None:
    """For somebody else's token: whoever makes or widens one could act as that person."""
    if not draft.is_new or draft.caller.may("core.add_token"):
        await refuse_if_above(draft.work, draft.caller, draft.now.user, "make or change a token of")
    else:
        draft.complain("user", "You may only make tokens for yourself.", "permission_denied")


def _set_end(draft: RecordDraft[TokenRecord]) -> None:
    if "expiring" in draft.values and not draft.now.expiring:
        draft.now.expires = None
    elif draft.is_new and draft.values.get("expires") is None:
        usual, until = draft.work.now + DEFAULT_LIFE, draft.caller.until
        draft.now.expires = usual if until is None else min(usual, until)


def _hold_to_token(draft: RecordDraft[TokenRecord]) -> None:
    caller = draft.caller
    if caller.way not in ("token", "app_password"):
        return
    if draft.sets("intent") and draft.now.intent != "api":
        draft.complain("intent", "A token makes no app passwords: sign in for that.", "permission_denied")
    if draft.sets("scopes") and not within(scopes_of(draft.now.scopes, draft.now.intent), caller.scopes or ()):
        draft.complain("scopes", "A token cannot give more scopes than it has itself.", "permission_denied")
    if draft.sets("expires") and is_later(draft.now.expires, caller.until):
        draft.complain("expires", "A token cannot make one that ends later than it does itself.", "permission_denied")


def _widens(draft: RecordDraft[TokenRecord]) -> bool:
    """Whether the change lets its owner do more."""
    if draft.before is None:
        return True
    before = scopes_of(draft.before.scopes, draft.before.intent)
    return (
        draft.sets("intent")
        or not within(scopes_of(draft.now.scopes, draft.now.intent), before)
        or is_later(draft.now.expires, draft.before.expires)
    )


async def removing(work: Work, record: TokenRecord, caller: ApiCaller) -> None:
    if record.user != caller.id:
        await refuse_if_above(work, caller, record.user, "delete a token of")
    token = await store.find(work.db, record.pk)
    if token is not None:
        tell_end(work, token)


async def decorate(_work: Work, records: list[TokenRecord]) -> None:
    for record in records:
        record.expiring = record.expires is not None


RESOURCE = Resource(
    path="/core/tokens/",
    name="Token",
    record=TokenRecord,
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
