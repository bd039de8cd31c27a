"""Asking for access, and deciding about it."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from kith.base.errors import Complaint, Conflict, Forbidden, Invalid, NotFound
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.identity.access_requests import grants, mails, store
from kith.identity.access_requests.tables import MOST_REASON, AccessOffer, RequestForAccess
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.expressions import subjects
from kith.identity.rest.facts import EndPlanned
from kith.identity.rest.fields import InvalidValue, Offset
from kith.identity.rest.fields.text import read_offset
from kith.identity.users import store as users
from kith.identity.users.tables import User

OPEN_FOR = timedelta(days=14)
MOST_OPEN = 10
ASKED = LimitRule("access_requests", most=20, seconds=3600)
LONGEST_SECONDS = 10 * 366 * 86_400.0
_DURATION = Offset(name="duration", least=60, most=256)
NOBODYS = "00000000-0000-0000-0000-000000000000"  # no request has this id
NOT_YOURS = "You cannot decide about your own request."


def seconds_of(duration: str) -> float:
    return min(read_offset(duration) or 0.0, LONGEST_SECONDS)


# Asking


def spend(work: Work, user_id: int) -> None:
    """Each try counts: those who decide get a mail for each request."""
    work.find(Limiter).spend(ASKED, str(user_id))


async def why_not_ask(work: Work, offer: AccessOffer, user_id: int, duration: str) -> tuple[str, Complaint] | None:
    """The field and the words, if they cannot ask for this. Policies are evaluated: call it before any write."""
    if not offer.requestable:
        return "offer", Complaint("This cannot be requested at the moment.", "invalid")
    if seconds_of(duration) > seconds_of(offer.longest):
        return "duration", Complaint(f"Access is given for at most {offer.longest}.", "too_big")
    if await grants.has_already(work, offer, await subjects.get(work, user_id)):
        return "offer", Complaint("You have access already.", "invalid")
    return None


async def why_too_many(work: Work, offer_uuid: str, user_id: int) -> Complaint | None:
    """What somebody has asked for is counted while nobody else can ask in their name."""
    await work.db.begin()
    await work.db.hold(f"identity.access_requests:{user_id}")
    waiting = await store.open_offers(work.db, user_id, work.now)
    if offer_uuid in waiting:
        return Complaint("You have asked for this already. It has not been decided yet.", "unique")
    if len(waiting) >= MOST_OPEN:
        return Complaint("You have too many requests that have not been decided yet.", "too_many")
    return None


async def tell_asked(work: Work, request_uuid: str) -> None:
    request, offer, asker = await _find(work, request_uuid)
    work.announce(EndPlanned(at=request.closes))
    await mails.tell_approvers(work, offer, request, asker)


# Deciding


async def decide(
    work: Work, request_uuid: str, by: ApiCaller, *, approve: bool, answer: str = "", duration: str | None = None
) -> None:
    """Approve or refuse; of two who decide at once the first one does. `duration`: a shorter time than asked for."""
    _check_answer(answer)
    await work.db.begin()
    request, offer, asker = await _find(work, request_uuid)
    await _check_approver(work, request, by)
    _check_open(work, request)
    expires = None
    if approve:
        _check_possible(offer, asker)
        expires = work.now + timedelta(seconds=_granted(offer, request, duration))
    state = "approved" if approve else "refused"
    if not await store.move(
        work.db, request_uuid, "open", state, work.now, by=by.id, said=answer.strip(), until=expires
    ):
        raise Conflict("Somebody else has decided about this request.")
    if expires is not None:
        await grants.give(work, offer, asker, expires, by)
        work.announce(EndPlanned(at=expires))
    request = msgspec.structs.replace(request, state=state, answer=answer.strip(), expires=expires)
    await _record(work, request, offer, asker, by)
    await mails.tell_decision(work, offer, request, asker)


def _check_answer(answer: str) -> None:
    if len(answer) > MOST_REASON:
        raise Invalid(answer=f"Ensure this field has no more than {MOST_REASON} characters.")


async def is_approver(work: Work, offer_uuid: str, user_id: int) -> bool:
    """Named, or in a named group, at this moment."""
    people, in_groups = await store.approvers_of(work.db, offer_uuid)
    if user_id in people:
        return True
    person = await subjects.get(work, user_id) if in_groups else None
    return person is not None and any(person.is_in(group) for group in in_groups)


async def _check_approver(work: Work, request: RequestForAccess, by: ApiCaller) -> None:
    """To anybody else the request does not exist."""
    if request.user == by.id:
        raise Forbidden(NOT_YOURS)
    if not await is_approver(work, request.offer, by.id):
        raise NotFound


def _check_open(work: Work, request: RequestForAccess) -> None:
    if request.state != "open" or request.closes <= work.now:
        raise Conflict("This request is not open any more.")


def _check_possible(offer: AccessOffer, asker: User) -> None:
    if not offer.requestable:
        raise Conflict("This cannot be requested any more.")
    if not asker.is_active or asker.approved_at is None:
        raise Conflict("The account of the person who asked is disabled.")


def _granted(offer: AccessOffer, request: RequestForAccess, duration: str | None) -> float:
    """Not longer than was asked for, nor than is allowed now."""
    most = min(seconds_of(request.duration), seconds_of(offer.longest))
    if duration is None:
        return most
    try:
        seconds = seconds_of(_DURATION.read(duration))
    except InvalidValue as refused:
        raise Invalid(fields={"duration": [refused.complaint]}) from refused
    if seconds > most:
        raise Invalid(duration="This is longer than was asked for, or than is allowed.")
    return seconds


# Leaving


async def withdraw(work: Work, request_uuid: str, by: ApiCaller) -> None:
    """By whoever asked, as long as nobody has decided."""
    await work.db.begin()
    request, offer, asker = await _find(work, request_uuid)
    if request.user != by.id:
        raise NotFound
    _check_open(work, request)
    if not await store.move(work.db, request_uuid, "open", "withdrawn", work.now):
        raise Conflict("This request has just been decided.")
    await _record(work, msgspec.structs.replace(request, state="withdrawn"), offer, asker, by)


async def end(work: Work, request_uuid: str, by: ApiCaller) -> None:
    """End access before its time: by whoever has it, or by those who decide."""
    await work.db.begin()
    request, offer, asker = await _find(work, request_uuid)
    if request.user != by.id and not await is_approver(work, request.offer, by.id):
        raise NotFound
    if not await store.move(work.db, request_uuid, "approved", "ended", work.now):
        raise Conflict("This request gives no access.")
    await grants.take(work, offer, asker, by)
    await _record(work, msgspec.structs.replace(request, state="ended"), offer, asker, by)


async def _find(work: Work, request_uuid: str) -> tuple[RequestForAccess, AccessOffer, User]:
    request = await store.find(work.db, request_uuid)
    offer = await store.find_offer(work.db, request.offer) if request is not None else None
    asker = await users.find_by_id(work.db, request.user) if request is not None else None
    if request is None or offer is None or asker is None:
        raise NotFound
    return request, offer, asker


async def record_state(work: Work, request: RequestForAccess) -> tuple[AccessOffer, User]:
    """Record a state that came by itself."""
    _, offer, asker = await _find(work, request.request_uuid)
    await _record(work, request, offer, asker, None)
    return offer, asker


async def _record(work: Work, request: RequestForAccess, offer: AccessOffer, asker: User, by: ApiCaller | None) -> None:
    context = {
        "model": {"app": "core", "model_name": "accessrequest", "pk": request.request_uuid, "name": offer.name},
        "offer": {"application": offer.application, "group": offer.group, "name": offer.name},
        "asked_by": {"pk": asker.id, "username": asker.username},
        "reason": request.reason,
        "answer": request.answer,
        "expires": _moment(request.expires),
    }
    by_id, by_name = (None, "") if by is None else (by.id, by.username)
    action = f"access_request_{request.state}"
    await audit.record(work, action, "core.accessrequest", user_id=by_id, username=by_name, context=context)


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
