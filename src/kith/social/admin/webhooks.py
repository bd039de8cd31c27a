"""Webhooks: addresses that are told of what happens here, signed, and tried again when they cannot be reached."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import bindparam, delete, select, update

from kith.base.db import Session, Taken, command, insert_into, query
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.admin.tables import Webhook, webhooks
from kith.social.ids import UserId
from kith.social.staff import Staff, record, role_of

EVENTS = (
    "account.created",
    "account.approved",
    "account.updated",
    "report.created",
    "report.updated",
    "status.created",
    "status.updated",
)
# What somebody must be allowed to see of other people for a webhook of theirs to be told of it.
NEEDS = {"account": "manage_users", "report": "manage_reports"}
BY_OPERATOR = 0
PLACE = "social_webhooks.secret"
LONGEST_URL = 2000
MOST = 50

_every = query(select(webhooks).order_by(webhooks.c.id), Webhook)
_one = query(select(webhooks).where(webhooks.c.id == bindparam("id")), Webhook)
_insert = command(insert_into(webhooks))
_delete = command(delete(webhooks).where(webhooks.c.id == bindparam("id")))
_write = command(
    update(webhooks)
    .where(webhooks.c.id == bindparam("which"))
    .values({name: bindparam(name, type_=webhooks.c[name].type) for name in Webhook.__struct_fields__ if name != "id"})
)


class WebhookDraft(msgspec.Struct, kw_only=True):
    """What is left out is as it was."""

    url: str | None = None
    events: list[str] | None = None
    enabled: bool | None = None


async def every(db: Session) -> list[Webhook]:
    return await db.all(_every)


async def find(work: Work, id: int) -> Webhook:
    found = await work.db.one(_one, id=id)
    if found is None:
        raise NotFound
    return found


def secret_of(work: Work, webhook: Webhook) -> str:
    return work.find(identity.Sealer).open(webhook.secret, PLACE)


async def create(work: Work, by: Staff, draft: WebhookDraft) -> Webhook:
    by.check("manage_webhooks")
    if len(await every(work.db)) >= MOST:
        raise Invalid(fields={"url": [Complaint(f"is too long (maximum is {MOST} entries)", "too_many")]})
    row = _filled(Webhook(work.new_id(), "", [], _new_secret(work), True, work.now, work.now), draft)
    _set_up(by, row)
    try:
        async with work.db.savepoint():
            await work.db.run(_insert, **msgspec.structs.asdict(row))
    except Taken as error:
        raise Invalid(fields={"url": [Complaint("has already been taken", "taken")]}) from error
    await record(work, by, "create_webhook", host=_host(row))
    return row


def _needs(events: Sequence[str]) -> set[str]:
    return {NEEDS[subject] for event in events if (subject := event.partition(".")[0]) in NEEDS}


def _set_up(by: Staff, row: Webhook, *before: str) -> None:
    """Whoever says where something is told, or was `before`, must be allowed to see it; it is told while they are."""
    if not all(by.may(needed) for needed in _needs([*row.events, *before])):
        words = "cannot include events you don't have the rights to"
        raise Invalid(fields={"events": [Complaint(words, "invalid_permissions")]})
    row.set_up_by = BY_OPERATOR if by.user_id is None else by.user_id


async def may_hear(work: Work, webhook: Webhook, event: str) -> bool:
    """Whether it may be told of `event`: whoever set it up may still see what that shows."""
    needed = _needs([event])
    if not needed or webhook.set_up_by == BY_OPERATOR:
        return True
    person = None if webhook.set_up_by is None else await identity.find_person(work, webhook.set_up_by)
    account = None if person is None else await accounts.find_of_user(work.db, UserId(person.id))
    if person is None or account is None or not person.is_welcome:
        return False
    role = await role_of(work, account)
    return role is not None and all(role.allows(one) for one in needed)


def _new_secret(work: Work) -> str:
    return work.find(identity.Sealer).seal(secrets.token_hex(20), PLACE)


def _filled(before: Webhook, draft: WebhookDraft) -> Webhook:
    url = before.url if draft.url is None else draft.url.strip()
    parts = urlsplit(url) if len(url) <= LONGEST_URL else urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc or "\0" in url:
        raise Invalid(fields={"url": [Complaint("is invalid") if url else Complaint("can't be blank", "blank")]})
    events = before.events if draft.events is None else list(dict.fromkeys(draft.events))
    if not events or any(event not in EVENTS for event in events):
        raise Invalid(fields={"events": [Complaint("is not included in the list", "inclusion")]})
    enabled = before.enabled if draft.enabled is None else draft.enabled
    return msgspec.structs.replace(before, url=url, events=events, enabled=enabled)


async def change(work: Work, by: Staff, id: int, draft: WebhookDraft) -> Webhook:
    """Whoever may not see what it is told can still turn it off."""
    by.check("manage_webhooks")
    before = await find(work, id)
    row = _filled(before, draft)
    if row != msgspec.structs.replace(before, enabled=False):
        _set_up(by, row, *before.events)
    return await _save(work, by, "update_webhook", row)


async def rotate(work: Work, by: Staff, id: int) -> Webhook:
    by.check("manage_webhooks")
    row = msgspec.structs.replace(await find(work, id), secret=_new_secret(work))
    _set_up(by, row)
    return await _save(work, by, "rotate_secret_webhook", row)


async def set_secret(work: Work, by: Staff, id: int, secret: str) -> Webhook:
    """The one that the other side knows already."""
    by.check("manage_webhooks")
    if not 8 <= len(secret) <= 200:
        raise Invalid(fields={"secret": [Complaint("is invalid")]})
    sealed = work.find(identity.Sealer).seal(secret, PLACE)
    row = msgspec.structs.replace(await find(work, id), secret=sealed)
    _set_up(by, row)
    return await _save(work, by, "rotate_secret_webhook", row)


async def _save(work: Work, by: Staff, action: str, row: Webhook) -> Webhook:
    row.updated_at = work.now
    values: dict[str, Any] = msgspec.structs.asdict(row)
    values.pop("id")
    try:
        async with work.db.savepoint():
            await work.db.run(_write, which=row.id, **values)
    except Taken as error:
        raise Invalid(fields={"url": [Complaint("has already been taken", "taken")]}) from error
    await record(work, by, action, host=_host(row))
    return row


async def remove(work: Work, by: Staff, id: int) -> None:
    by.check("manage_webhooks")
    row = await find(work, id)
    await work.db.run(_delete, id=id)
    await record(work, by, "destroy_webhook", host=_host(row))


def _host(row: Webhook) -> str:
    """What events tell of an address: whoever knows all of it may be able to use it."""
    return urlsplit(row.url).hostname or ""
