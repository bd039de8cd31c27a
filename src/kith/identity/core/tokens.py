"""/core/tokens/: keys for programs. Owners see their own, those who may see them all see them all."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from kith.base.work import Work
from kith.identity.core.rank import refuse_if_above
from kith.identity.rest import Draft, Resource
from kith.identity.rest.fields import Boolean, Choice, Moment, Reference, Slug, Text, Told
from kith.identity.scopes import complain as complain_scopes
from kith.identity.tokens.service import PREFIX, hash_key
from kith.identity.tokens.tables import tokens

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
)


async def check(draft: Draft) -> None:
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
    if draft.is_new and draft.now("user") != draft.caller.id:
        if draft.caller.may("core.add_token"):
            await refuse_if_above(draft.work, draft.caller, draft.now("user"), "make a token for")
        else:
            draft.complain("user", "You may only make tokens for yourself.", "permission_denied")
    if "expiring" in draft.values and not draft.values["expiring"]:
        draft.values["expires"] = None
    elif draft.is_new and draft.values.get("expires") is None:
        draft.values["expires"] = draft.work.now + DEFAULT_LIFE


def _begin(draft: Draft) -> None:
    key = PREFIX + secrets.token_urlsafe(32)
    draft.columns["key_hash"] = hash_key(key)
    draft.values["user"] = draft.values.get("user") or draft.caller.id
    draft.values["identifier"] = draft.values.get("identifier") or f"{draft.now('intent')}-{secrets.token_hex(8)}"
    draft.once["key"] = key


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
    prepare=check,
    decorate=decorate,
)
