"""Confirming addresses by mailed links.

Whoever gives an address that belongs to another account is not told so; its owner gets a mail.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

import msgspec

from kith.base import mail_texts
from kith.base.errors import Complaint, Invalid, NotFound, Throttled
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.hints import service as hints
from kith.identity.links import service as links
from kith.identity.links.tables import OneTimeLink
from kith.identity.messages import service as messages
from kith.identity.signups import blocks, mails, service
from kith.identity.users import address_ownership, security_mails
from kith.identity.users import store as users
from kith.identity.users.names import complain_email, email_key
from kith.identity.users.service import UserChanged
from kith.identity.users.tables import User

PATH = "/confirm/"
LIFE = timedelta(days=2)
AGAIN = LimitRule("confirm-mail", most=5, seconds=3600)
FROM_ONE = LimitRule("confirm-mail-from", most=25, seconds=300)  # asked for from one place, whoever asks
TO_ONE = LimitRule("confirm-mail-to", most=10, seconds=3600)  # to one address, whoever asks for it
BLOCKED = "Addresses of this provider are not accepted here."
_PLACE = "identity_flow_tokens.errand"


class AddressLinkOver(NotFound):
    code = "link_over"
    message = "This link is not valid, or it was used already"


class Errand(msgspec.Struct):
    """The purpose of a link: to make `address` the confirmed one of a person whose address was `before`."""

    address: str
    before: str


async def ask_again(work: Work, user: User) -> bool:
    """Send the confirmation again; False if the limit is reached. Counted before anything is written."""
    try:
        await count(work, user)
    except Throttled:
        return False
    if await may_get_mail(work, user.email):
        await send(work, user, user.email)
    return True


async def count(work: Work, user: User) -> None:
    """Count a mail to a new address, before anything is written."""
    await count_origin(work)
    await work.find(Limiter).spend_strictly(AGAIN, str(user.id))


async def count_origin(work: Work) -> None:
    """Count a mail by where the wish for it comes from, before anything is written."""
    await work.find(Limiter).spend_strictly(FROM_ONE, address_key(work.origin.address))


async def may_get_mail(work: Work, address: str) -> bool:
    """Whether the limit of mails to this address allows one more. Counted before anything is written."""
    whom = hashlib.sha256(email_key(address).encode("utf-8", "surrogatepass")).hexdigest()[:40]
    try:
        await work.find(Limiter).spend_strictly(TO_ONE, whom)
    except Throttled:
        return False
    return True


def check(address: str) -> None:
    complaint = complain_email(address)
    if complaint is not None:
        raise Invalid(fields={"email": [complaint]})


async def change_own(work: Work, user: User, address: str) -> bool:
    """What a person wishes for themselves; who must confirm it first is told so."""
    check(address)
    await count(work, user)
    mails = await may_get_mail(work, address)
    is_changed = await change(work, user, address, mails=mails, by=user.id, by_name=user.username)
    if not is_changed:
        await tell_to_confirm(work, user, address)
    return is_changed


async def tell_to_confirm(work: Work, user: User, address: str) -> None:
    await messages.leave(
        work,
        user.id,
        f"To confirm {address} as your e-mail address, open the link in the e-mail we sent there.",
        "info",
    )


async def change(
    work: Work, user: User, address: str, *, mails: bool = True, by: int | None = None, by_name: str = ""
) -> bool:
    """Change a person's address. Where addresses are confirmed it counts only after confirmation; False until then.

    Callers count how often this is asked for (`count`); `mails` is whether a mail may be sent (`may_get_mail`).
    """
    check(address)
    if email_key(address) != user.email_key and await blocks.is_blocked(work, address):
        raise Invalid(fields={"email": [Complaint(BLOCKED, "blocked")]})
    if address and work.settings.confirm_email and not (email_key(address) == user.email_key and user.owns_email):
        if mails:
            await send(work, user, address)
            if email_key(address) != user.email_key:
                security_mails.tell(work, security_mails.ADDRESS_ASKED, user, address=address)
        return False
    await _write(work, user, address, by=by, by_name=by_name)
    return True


async def send(work: Work, user: User, address: str) -> None:
    """Send the confirmation link; if the address belongs to another account, a mail to its owner instead."""
    if await tell_owner(work, address, user.id):
        return
    key = links.new_key()
    errand = msgspec.json.encode(Errand(address=address, before=user.email)).decode()
    await links.make(work, key, user.id, flow=None, plan=work.find(Sealer).seal(errand, _PLACE), life=LIFE)
    link = f"{work.settings.base_url}{PATH}{key}"
    mail_texts.send(work, mails.CONFIRM_ADDRESS, address, user.locale, name=user.username, link=link)
    await audit.record(
        work,
        "email_sent",
        "core.signups",
        user_id=user.id,
        username=user.username,
        context={"message": f"Email to {address} sent", "subject": "Confirm your e-mail address", "to": [address]},
    )


async def tell_owner(work: Work, address: str, user_id: int) -> bool:
    """Whether the address belongs to another account; its owner gets a mail then."""
    owner = await users.owner_of(work.db, address)
    if owner is None or owner.id == user_id or not owner.is_email_verified:
        return False
    await hints.tell_address_tried(work, owner)
    return True


async def find(work: Work, key: str) -> tuple[User, str]:
    """The person and the address of a link."""
    user, errand = await _read(work, await links.find_errand(work, key))
    return user, errand.address


async def confirm(work: Work, key: str) -> User:
    """Use the link: the address is confirmed. Of several who gave it, the first to confirm gets it."""
    user, errand = await _read(work, await links.claim_errand(work, key))
    if errand.address == user.email:
        if not await service.confirm(work, user):
            raise AddressLinkOver
        return await users.get(work.db, user.id)
    if not await address_ownership.prove(work, user, errand.address):
        raise AddressLinkOver
    await _tell_changed(work, user, errand.address, by=user.id, by_name=user.username)
    await messages.leave(work, user.id, "Your new e-mail address is confirmed.", "success")
    return await users.get(work.db, user.id)


async def _read(work: Work, link: OneTimeLink | None) -> tuple[User, Errand]:
    user = await users.find_by_id(work.db, link.user_id) if link is not None else None
    if user is None or link is None:
        raise AddressLinkOver
    try:
        errand = msgspec.json.decode(work.find(Sealer).open(link.plan, _PLACE), type=Errand)
    except ValueError as error:
        raise AddressLinkOver from error
    if errand.before != user.email:
        raise AddressLinkOver  # another address was set meanwhile
    return user, errand


async def _write(work: Work, user: User, address: str, *, by: int | None, by_name: str) -> None:
    """Store the address without confirmation. Another spelling of a confirmed one stays confirmed."""
    if address == user.email:
        return
    if email_key(address) == user.email_key:
        await users.write(work.db, user.id, {"email": address}, work.now)
    elif not await address_ownership.claim(work, user, address):
        await tell_owner(work, address, user.id)
    await _tell_changed(work, user, address, by=by, by_name=by_name)


async def _tell_changed(work: Work, user: User, address: str, *, by: int | None, by_name: str) -> None:
    diff = audit.difference({"email": user.email}, {"email": address})
    await audit.record(
        work, "user_write", "core.signups", user_id=by, username=by_name, context={"created": False, "diff": diff}
    )
    work.announce(UserChanged(user_id=user.id))
    if user.owns_email and email_key(address) != user.email_key:
        security_mails.tell(work, security_mails.ADDRESS_CHANGED, user, to=user.email)
