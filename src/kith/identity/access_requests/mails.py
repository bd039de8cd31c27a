"""Mails about requests for access: to those who decide, and to those who asked."""

from __future__ import annotations

from kith.base.mail_texts import UNITS, MailText, send, spoken
from kith.base.work import Work
from kith.identity.access_requests import store
from kith.identity.access_requests.tables import AccessOffer, RequestForAccess
from kith.identity.groups import store as groups
from kith.identity.users import store as users
from kith.identity.users.tables import User

MOST_TOLD = 50
PAGE = "/settings/access"
_VALUES = {"name": "ada", "offer": "Accounting", "link": f"https://our.example{PAGE}"}


def _text(name: str, subject: str, *paragraphs: str, **more: str) -> MailText:
    body = "\n\n".join(("Hello {name},", *paragraphs, "{link}"))
    return MailText(name=name, subject=f"{{site}}: {subject}", body=body, values=_VALUES | more)


ASKED = _text(
    "access_asked",
    "{asker} asks for access to {offer}",
    "{asker} asks for access to {offer}, for {duration}.",
    "The reason given: {reason}",
    "You can approve or refuse the request here:",
    asker="bob",
    duration="2 days",
    reason="I make the yearly report.",
)
APPROVED = _text(
    "access_approved",
    "Your request for {offer} was approved",
    "You have access to {offer} until {until} UTC.",
    "The answer: {answer}",
    "Your requests:",
    until="2026-11-19 12:30",
    answer="With pleasure.",
)
REFUSED = _text(
    "access_refused",
    "Your request for {offer} was refused",
    "Your request for access to {offer} was refused.",
    "The answer: {answer}",
    "Your requests:",
    answer="Please ask your team first.",
)
ENDED = _text("access_ended", "Your access to {offer} has ended", "Your access to {offer} has ended.", "Your requests:")
UNANSWERED = _text(
    "access_unanswered",
    "Your request for {offer} has expired",
    "Nobody has decided about your request for {offer} in time. You can ask again:",
)
TEXTS = (ASKED, APPROVED, REFUSED, ENDED, UNANSWERED)


async def tell_approvers(work: Work, offer: AccessOffer, request: RequestForAccess, asker: User) -> None:
    people, in_groups = await store.approvers_of(work.db, offer.offer_uuid)
    ids = dict.fromkeys((*people, *await groups.people_in(work.db, in_groups, most=MOST_TOLD)))
    for user_id in [one for one in ids if one != asker.id][:MOST_TOLD]:
        approver = await users.find_by_id(work.db, user_id)
        if approver is not None and approver.is_active:
            duration = words_of(request.duration, approver.locale)
            asked = {"asker": asker.username, "duration": duration, "reason": request.reason}
            _send(work, ASKED, approver, offer.name, **asked)


async def tell_decision(work: Work, offer: AccessOffer, request: RequestForAccess, asker: User) -> None:
    if request.state == "approved" and request.expires is not None:
        until = f"{request.expires:%Y-%m-%d %H:%M}"
        _send(work, APPROVED, asker, offer.name, until=until, answer=request.answer)
    else:
        _send(work, REFUSED, asker, offer.name, answer=request.answer)


async def tell_end(work: Work, name: str, asker: User) -> None:
    _send(work, ENDED, asker, name)


async def tell_unanswered(work: Work, name: str, asker: User) -> None:
    _send(work, UNANSWERED, asker, name)


def _send(work: Work, text: MailText, to: User, offer: str, **values: str) -> None:
    """Nothing to whoever has no address that counts as theirs."""
    link = f"{work.settings.base_url}{PAGE}"
    send(work, text, to.counted_email, to.locale, name=to.username, offer=offer, link=link, **values)


def words_of(duration: str, locale: str) -> str:
    """`days=2;hours=3` in words."""
    parts = [part.strip().partition("=") for part in duration.split(";")]
    return ", ".join(
        spoken(locale, unit, int(number)) if unit in UNITS and number.isdecimal() else f"{number} {unit}"
        for unit, _, number in parts
    )
