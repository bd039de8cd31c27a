"""/core/access_offers/: what can be requested, and who decides. /core/access_requests/: who has asked for what."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import bindparam, func, select

from kith.base.db import UID, query
from kith.base.work import Work
from kith.identity.access_requests import grants, service, store
from kith.identity.access_requests.tables import OFFER_FIELDS, REQUEST_FIELDS, offers, requests
from kith.identity.applications.tables import applications
from kith.identity.group_grants import complain_grant
from kith.identity.groups.tables import groups as group_table
from kith.identity.memberships.store import names_of
from kith.identity.policies import person_bindings
from kith.identity.rest import READ, RecordDraft, Resource
from kith.identity.rest.record import Record

REQUIRED = "This field is required."
_BINDING = "policies.add_policybinding"


_MODE = query(
    select(applications.c.policy_engine_mode).where(applications.c.pbm_uuid == bindparam("application", type_=UID())),
    str,
)


class AccessOfferRecord(Record, kw_only=True):
    pk: str
    offer_uuid: str
    application: str | None
    group: str | None
    description: str
    requestable: bool
    longest: str
    approvers: list[int] = msgspec.field(default_factory=list)
    approver_groups: list[str] = msgspec.field(default_factory=list)
    created: datetime
    last_updated: datetime


async def check_offer(draft: RecordDraft[AccessOfferRecord]) -> None:
    application, group = draft.value("application"), draft.value("group")
    if application is None and group is None:
        draft.complain("group", REQUIRED, "required")
    elif application is not None and group is not None:
        draft.complain("", "Only one of application, group can be set.")
    if not draft.value("approvers") and not draft.value("approver_groups"):
        words = REQUIRED if draft.is_new else "Name at least one person or group who decides."
        draft.complain("approvers", words, "required")
    if service.seconds_of(draft.value("longest")) >= service.LONGEST_SECONDS:
        draft.complain("longest", "Choose at most ten years.", "too_big")
    refused = await complain_grant(draft, [group] if group is not None else [])
    if refused is not None:
        draft.complain("group", refused, "permission_denied")
    if application is not None and not draft.caller.may(_BINDING):
        draft.complain("application", "You may not decide who opens applications.", "permission_denied")
    if application is not None and draft.value("requestable"):
        await _check_application(draft, application)


async def _check_application(draft: RecordDraft[AccessOfferRecord], application: str) -> None:
    mode = await draft.work.db.one(_MODE, application=application)
    if mode is not None and mode != "any":
        draft.complain("application", grants.ALL_MODE)
    elif mode is not None and not await person_bindings.has_any(draft.work.db, application):
        draft.complain("application", f"{grants.NOT_BOUND} Bind a group, a person or a policy first.")


_offer_name = func.coalesce(
    select(applications.c.name).where(applications.c.pbm_uuid == offers.c.application).scalar_subquery(),
    select(group_table.c.name).where(group_table.c.group_uuid == offers.c.group).scalar_subquery(),
    "",
)
OFFERS = Resource(
    path="/core/access_offers/",
    name="AccessOffer",
    record=AccessOfferRecord,
    key="offer_uuid",
    table=offers,
    fields=OFFER_FIELDS,
    search=(_offer_name, "description"),
    order=("created",),
    exact=("application", "group", "requestable"),
    label="description",
    prepare=check_offer,
)


class AccessRequestRecord(Record, kw_only=True):
    pk: str
    request_uuid: str
    offer: str
    offer_name: str = ""
    user: int
    username: str = ""
    reason: str
    duration: str
    state: str
    closes: datetime
    decided_by: int | None
    decided: datetime | None
    answer: str
    expires: datetime | None
    created: datetime
    last_updated: datetime


async def ahead(draft: RecordDraft[AccessRequestRecord]) -> None:
    service.spend(draft.work, draft.caller.id)
    offer = await store.find_offer(draft.work.db, draft.now.offer)
    if offer is None:
        return  # which is found out with all other references
    if not draft.now.reason.strip():
        draft.complain("reason", "This field may not be blank.", "blank")
    wrong = await service.why_not_ask(draft.work, offer, draft.caller.id, draft.now.duration)
    if wrong is not None:
        draft.complain(wrong[0], wrong[1], wrong[1].code)
    draft.raise_complaints()


async def check_request(draft: RecordDraft[AccessRequestRecord]) -> None:
    wrong = await service.why_too_many(draft.work, draft.now.offer, draft.caller.id)
    if wrong is not None:
        draft.complain("offer", wrong, wrong.code)
    closes = draft.work.now + service.OPEN_FOR
    draft.columns |= {"user": draft.caller.id, "state": "open", "closes": closes, "answer": ""}


async def asked(draft: RecordDraft[AccessRequestRecord]) -> None:
    await service.tell_asked(draft.work, draft.id)


async def decorate(work: Work, records: list[AccessRequestRecord]) -> None:
    names = await store.names_of_offers(work.db, [record.offer for record in records])
    people = await names_of(work.db, [], [record.user for record in records])
    for record in records:
        record.offer_name, record.username = names.get(record.offer, ""), people.get(record.user, "")


REQUESTS = Resource(
    path="/core/access_requests/",
    name="AccessRequest",
    record=AccessRequestRecord,
    key="request_uuid",
    table=requests,
    fields=REQUEST_FIELDS,
    search=("reason", "answer"),
    order=("created",),
    exact=("offer", "user", "state"),
    allow=READ | {"create"},
    label="offer_name",
    own="user",
    ahead=ahead,
    prepare=check_request,
    saved=asked,
    decorate=decorate,
)
