"""What happens here, told to webhooks: first who wants to hear of it, then each of them by itself."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import MAKES_ROOM, Give, JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged, AccountMade, AccountWelcomed
from kith.social.admin import webhooks
from kith.social.admin.entities import render_admin_by_id
from kith.social.admin.report_entities import render_admin_reports
from kith.social.admin.tables import Webhook
from kith.social.ids import AccountId, StatusId
from kith.social.moderation import store as moderation
from kith.social.moderation.facts import ReportChanged, ReportCreated
from kith.social.moments import moment
from kith.social.staff import OPERATOR
from kith.social.statuses.entities import render_by_id
from kith.social.statuses.facts import StatusEdited, StatusPosted
from kith.social.statuses.tables import PUBLIC, UNLISTED, statuses

SECONDS = 15.0


class Delivery(msgspec.Struct):
    webhook_id: int
    event: str
    id: int
    at: datetime


_open_local = query(
    select(statuses.c.id).where(
        and_(any_of(statuses.c.id, "ids"), statuses.c.local, statuses.c.visibility.in_((PUBLIC, UNLISTED)))
    ),
    int,
)


class NotDelivered(Exception):  # noqa: N818 - what it is
    """It is tried again later."""


async def _tell(work: Work, told: Sequence[tuple[str, int]]) -> None:
    """Most servers have no webhooks, and then it is over here."""
    for one in await webhooks.every(work.db):
        if one.enabled:
            for event, id in told:
                if event in one.events:
                    work.enqueue(DELIVER, Delivery(one.id, event, id, work.now), owner=f"webhook:{one.id}")


async def made(work: Work, fact: AccountMade) -> None:
    await _tell(work, [("account.created", fact.account_id)])


async def welcomed(work: Work, fact: AccountWelcomed) -> None:
    await _tell(work, [("account.approved", fact.account_id)])


async def changed(work: Work, fact: AccountChanged) -> None:
    await _tell(work, [("account.updated", fact.account_id)])


async def reported(work: Work, fact: ReportCreated) -> None:
    await _tell(work, [("report.created", fact.report_id)])


async def report_changed(work: Work, fact: ReportChanged) -> None:
    await _tell(work, [("report.updated", fact.report_id)])


async def posted(work: Work, facts: Sequence[StatusPosted]) -> None:
    await _tell_of_posts(work, "status.created", [fact.status_id for fact in facts])


async def edited(work: Work, fact: StatusEdited) -> None:
    await _tell_of_posts(work, "status.updated", [fact.status_id])


async def _tell_of_posts(work: Work, event: str, ids: Sequence[int]) -> None:
    """Of what is said here to everybody; other servers tell of their own."""
    if any(one.enabled and event in one.events for one in await webhooks.every(work.db)):
        await _tell(work, [(event, id) for id in await work.db.all(_open_local, ids=list(ids))])


async def _object(work: Work, event: str, id: int) -> msgspec.Raw | None:
    if event.startswith("account."):
        return (await render_admin_by_id(work, [AccountId(id)])).get(AccountId(id))
    if event.startswith("report."):
        report = await moderation.find_report(work.db, id)
        return None if report is None else msgspec.Raw((await render_admin_reports(work, [report], OPERATOR))[0])
    found = (await render_by_id(work, [id], None)).get(StatusId(id))
    return None if found is None else msgspec.Raw(found)


async def _is_about_its_maker(work: Work, webhook: Webhook, delivery: Delivery) -> bool:
    """Nobody is told by their own webhook who has reported them."""
    report = await moderation.find_report(work.db, delivery.id) if delivery.event.startswith("report.") else None
    target = None if report is None else await accounts.find(work.db, report.target_id)
    return target is not None and target.user_id is not None and target.user_id == webhook.set_up_by


async def deliver(work: Work, delivery: Delivery) -> None:
    """The receiver knows by the signature that it is from here; any answer but a yes is tried again."""
    webhook = next((one for one in await webhooks.every(work.db) if one.id == delivery.webhook_id), None)
    if webhook is None or not webhook.enabled:
        return
    if not await webhooks.may_hear(work, webhook, delivery.event):
        work.log("webhooks.not_told", webhook=webhook.id, told=delivery.event)
        return
    if await _is_about_its_maker(work, webhook, delivery):
        return
    shown = await _object(work, delivery.event, delivery.id)
    if shown is None:
        raise Give.up("what it is about is gone")
    told = {"event": delivery.event, "created_at": moment(delivery.at), "object": shown}
    body = msgspec.json.encode(told)
    signature = hmac.new(webhooks.secret_of(work, webhook).encode(), body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-Hub-Signature": f"sha256={signature}"}
    try:
        answer = await work.find(Outgoing).request(
            "POST", webhook.url, headers=headers, body=body, max_bytes=64 * 1024, max_redirects=0, timeout=SECONDS
        )
    except OutgoingError as error:
        raise NotDelivered(f"{webhook.url} could not be told: {error}") from error
    if answer.status >= 300:
        raise NotDelivered(f"{webhook.url} answered {answer.status}")


DELIVER: JobKind[Delivery] = JobKind(
    name="webhooks.deliver", payload=Delivery, handler=deliver, outside=True, concurrency=4, **MAKES_ROOM
)
MADE: JobKind[AccountMade] = JobKind(name="webhooks.made", payload=AccountMade, handler=made)
WELCOMED: JobKind[AccountWelcomed] = JobKind(name="webhooks.welcomed", payload=AccountWelcomed, handler=welcomed)
CHANGED: JobKind[AccountChanged] = JobKind(name="webhooks.changed", payload=AccountChanged, handler=changed)
REPORTED: JobKind[ReportCreated] = JobKind(name="webhooks.reported", payload=ReportCreated, handler=reported)
REPORT_CHANGED: JobKind[ReportChanged] = JobKind(
    name="webhooks.report_changed", payload=ReportChanged, handler=report_changed
)
POSTED: JobKind[StatusPosted] = JobKind(name="webhooks.posted", payload=StatusPosted, many=posted)
EDITED: JobKind[StatusEdited] = JobKind(name="webhooks.edited", payload=StatusEdited, handler=edited)
