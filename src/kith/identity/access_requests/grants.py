"""What is given on request: a membership of a group, or a binding that lets a person into an application."""

from __future__ import annotations

from datetime import datetime

from kith.base.errors import Conflict
from kith.base.work import Work
from kith.identity.access_requests.tables import AccessOffer
from kith.identity.caller import ApiCaller
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.groups import store as groups
from kith.identity.memberships import service as memberships
from kith.identity.policies import person_bindings
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.rest.facts import AccessChanged, EndPlanned
from kith.identity.users.service import UserChanged
from kith.identity.users.tables import User

ALL_MODE = (
    "The application asks for all of its policies to pass, so that nobody can be let in on request: "
    "its policy_engine_mode must be any."
)
NOT_BOUND = "Nothing is bound to the application, so that everybody may open it already."


async def has_already(work: Work, offer: AccessOffer, person: PolicySubject) -> bool:
    """Whether somebody has it, other than until a moment. Policies are evaluated: call it before any write."""
    user_id = person.user.id
    if offer.group is not None:
        if not person.is_in(offer.group):
            return False
        direct = await groups.membership(work.db, offer.group, user_id)
        return direct is None or direct.expires is None
    assert offer.application is not None  # noqa: S101 - one of the two is set
    request = PolicyRequest(person=person, client_ip=work.origin.address, is_test=True)
    mode = "any" if offer.policy_engine_mode == "any" else "all"
    if not (await evaluate_target(work, offer.application, request, mode)).passing:  # type: ignore[arg-type]
        return False
    own = await person_bindings.find(work.db, offer.application, user_id)
    return own is None or own.expires is None


async def give(work: Work, offer: AccessOffer, user: User, expires: datetime, by: ApiCaller) -> None:
    """Until `expires`; what somebody has for longer is never made shorter."""
    if offer.group is not None:
        person = (user.id, user.username)
        await memberships.join_for_longer(work, (offer.group, offer.name), person, expires, by)
    elif offer.application is not None:
        await _let_in(work, offer, offer.application, user, expires)


async def _let_in(work: Work, offer: AccessOffer, application: str, user: User, expires: datetime) -> None:
    if offer.policy_engine_mode != "any":
        raise Conflict(ALL_MODE)
    if not await person_bindings.has_any(work.db, application):
        raise Conflict(NOT_BOUND)
    await work.db.hold(f"identity.person_binding:{application}:{user.id}")
    own = await person_bindings.find(work.db, application, user.id)
    if own is None:
        await person_bindings.add(work.db, application, user.id, expires, work.now)
    elif own.expires is not None and own.expires < expires:
        await person_bindings.extend(work.db, own.policy_binding_uuid, expires, work.now)
    work.announce(EndPlanned(at=expires))
    _announce(work, user.id)


async def take(work: Work, offer: AccessOffer, user: User, by: ApiCaller) -> None:
    """End it before its time; what somebody has for good stays."""
    if offer.group is not None:
        held = await groups.membership(work.db, offer.group, user.id)
        if held is not None and held.expires is not None:
            await memberships.leave(work, (offer.group, offer.name), (user.id, user.username), by)
    elif offer.application is not None:
        own = await person_bindings.find(work.db, offer.application, user.id)
        if own is not None and own.expires is not None and own.expires > work.now:
            await person_bindings.extend(work.db, own.policy_binding_uuid, work.now, work.now)
            _announce(work, user.id)


def _announce(work: Work, user_id: int) -> None:
    work.announce(UserChanged(user_id=user_id))
    work.announce(AccessChanged())
