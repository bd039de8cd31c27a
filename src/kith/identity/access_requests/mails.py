"""Mails about requests for access: to those who decide, and to those who asked."""

from __future__ import annotations

from kith.base.mail import Mail, MailRefused, checked_address
from kith.base.mailing import post
from kith.base.work import Work
from kith.identity.access_requests import store
from kith.identity.access_requests.tables import AccessOffer, RequestForAccess
from kith.identity.groups import store as groups
from kith.identity.users import store as users
from kith.identity.users.tables import User

MOST_TOLD = 50
PAGE = "/settings/access"


async def tell_approvers(work: Work, offer: AccessOffer, request: RequestForAccess, asker: User) -> None:
    people, in_groups = await store.approvers_of(work.db, offer.offer_uuid)
    ids = dict.fromkeys((*people, *await groups.people_in(work.db, in_groups, most=MOST_TOLD)))
    for user_id in [one for one in ids if one != asker.id][:MOST_TOLD]:
        approver = await users.find_by_id(work.db, user_id)
        if approver is not None and approver.is_active:
            lines = [
                f"{asker.username} asks for access to {offer.name}, for {words_of(request.duration)}.",
                f"The reason given: {request.reason}",
                "You can approve or refuse the request here:",
            ]
            _send(work, approver, f"{asker.username} asks for access to {offer.name}", lines)


async def tell_decision(work: Work, offer: AccessOffer, request: RequestForAccess, asker: User) -> None:
    if request.state == "approved" and request.expires is not None:
        lines = [f"You have access to {offer.name} until {request.expires:%Y-%m-%d %H:%M} UTC."]
    else:
        lines = [f"Your request for access to {offer.name} was refused."]
    if request.answer:
        lines.append(f"The answer: {request.answer}")
    _send(work, asker, f"Your request for {offer.name} was {request.state}", [*lines, "Your requests:"])


async def tell_end(work: Work, name: str, asker: User) -> None:
    _send(work, asker, f"Your access to {name} has ended", [f"Your access to {name} has ended.", "Your requests:"])


async def tell_unanswered(work: Work, name: str, asker: User) -> None:
    lines = [f"Nobody has decided about your request for {name} in time. You can ask again:"]
    _send(work, asker, f"Your request for {name} has expired", lines)


def _send(work: Work, to: User, subject: str, lines: list[str]) -> None:
    """Nothing to whoever has no address that counts as theirs."""
    if not to.counted_email:
        return
    try:
        address = checked_address(to.counted_email)
    except MailRefused:
        return
    settings = work.settings
    text = "\n\n".join([f"Hello {to.username},", *lines, f"{settings.base_url}{PAGE}"]) + "\n"
    subject = " ".join(f"{settings.title}: {subject}".split())
    post(work, Mail(to=address, subject=subject[:200], text=text))


def words_of(duration: str) -> str:
    """`days=2;hours=3` in words."""
    parts = [part.strip().partition("=") for part in duration.split(";")]
    return ", ".join(f"{number} {unit[:-1] if number == '1' else unit}" for unit, _, number in parts)
