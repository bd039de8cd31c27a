"""Whose address it is: only whoever reads its mail can say so.

Where an address is another account's already, nobody is told so but its owner, by a mail.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound, Throttled
from kith.base.limits import Limiter, Rule
from kith.base.work import Work
from kith.identity import notices
from kith.identity.audit import service as audit
from kith.identity.hints import service as hints
from kith.identity.links import service as links
from kith.identity.links.tables import Link
from kith.identity.messages import service as messages
from kith.identity.sealing import Sealer
from kith.identity.signups import blocks, mails, service
from kith.identity.users import owning
from kith.identity.users import store as users
from kith.identity.users.names import complain_email, email_key
from kith.identity.users.service import UserChanged
from kith.identity.users.tables import User

PATH = "/confirm/"
LIFE = timedelta(days=2)
AGAIN = Rule("confirm-mail", most=5, seconds=3600)
TO_ONE = Rule("confirm-mail-to", most=10, seconds=3600)  # to one address, whoever asks for it
BLOCKED = "Addresses of this provider are not accepted here."
_PLACE = "identity_flow_tokens.errand"


class LinkOver(NotFound):
    code = "link_over"
    message = "This link is not valid, or it was used already"


class Errand(msgspec.Struct):
    """What the link does: make `address` the confirmed one of whoever had `before`."""

    address: str
    before: str


async def ask_again(work: Work, user: User) -> bool:
    """Send the mail once more; False when there were enough of them for now. Counted before anything is written."""
    try:
        await count(work, user)
    except Throttled:
        return False
    if await may_get_mail(work, user.email):
        await send(work, user, user.email)
    return True


async def count(work: Work, user: User) -> None:
    """Before anything is written: a mail to a new address is about to be asked for."""
    await work.find(Limiter).spend_strictly(AGAIN, str(user.id))


async def may_get_mail(work: Work, address: str) -> bool:
    """Whether one more mail may go where nobody may have asked for any. Counted before anything is written."""
    whom = hashlib.sha256(email_key(address).encode("utf-8", "surrogatepass")).hexdigest()[:40]
    try:
        await work.find(Limiter).spend_strictly(TO_ONE, whom)
    except Throttled:
        return False
    return True


async def change(
    work: Work, user: User, address: str, *, mails: bool = True, by: int | None = None, by_name: str = ""
) -> bool:
    """Have another address. Where addresses are confirmed, it counts once its link was followed: False until then.

    Whoever lets people ask for this counts how often (`count`); `mails` is whether one may go there (`may_get_mail`).
    """
    complaint = complain_email(address)
    if complaint is not None:
        raise Invalid(fields={"email": [complaint]})
    if email_key(address) != user.email_key and await blocks.is_blocked(work, address):
        raise Invalid(fields={"email": [Complaint(BLOCKED, "blocked")]})
    if address and work.settings.confirm_email and not (email_key(address) == user.email_key and user.owns_email):
        if mails:
            await send(work, user, address)
        return False
    await _write(work, user, address, by=by, by_name=by_name)
    return True


async def send(work: Work, user: User, address: str) -> None:
    """The link that proves the address; where it is somebody else's already, a word to its owner and no link."""
    if await tell_owner(work, address, user.id):
        return
    key = links.new_key()
    errand = msgspec.json.encode(Errand(address=address, before=user.email)).decode()
    await links.make(work, key, user.id, flow=None, plan=work.find(Sealer).seal(errand, _PLACE), life=LIFE)
    title = work.settings.title
    mails.write(
        work, address, f"Confirm your e-mail address at {title}",
        [f"Please confirm that this is the e-mail address of your account {user.username} at {title}.",
         "The link works once and expires after two days.",
         "If you did not request this, you can ignore this e-mail."],
        link=("Confirm e-mail address", f"{work.settings.base_url}{PATH}{key}"),
    )  # fmt: skip
    await audit.record(
        work, "email_sent", "core.signups", user_id=user.id, username=user.username,
        context={"message": f"Email to {address} sent", "subject": "Confirm your e-mail address", "to": [address]},
    )  # fmt: skip


async def tell_owner(work: Work, address: str, user_id: int) -> bool:
    """Whether somebody else has proven this address; they hear that it was given by another."""
    owner = await users.owner_of(work.db, address)
    if owner is None or owner.id == user_id or not owner.is_email_verified:
        return False
    await hints.tell_address_tried(work, owner)
    return True


async def find(work: Work, key: str) -> tuple[User, str]:
    """Whom a link is for, and which address it confirms."""
    user, errand = await _read(work, await links.find_errand(work, key))
    return user, errand.address


async def confirm(work: Work, key: str) -> User:
    """Use the link: the address is theirs, and counts. Of several who gave it, the first to come has it."""
    user, errand = await _read(work, await links.claim_errand(work, key))
    if errand.address == user.email:
        if not await service.confirm(work, user):
            raise LinkOver
        return await users.get(work.db, user.id)
    if not await owning.prove(work, user, errand.address):
        raise LinkOver
    await _tell_changed(work, user, errand.address, by=user.id, by_name=user.username)
    await messages.leave(work, user.id, "Your new e-mail address is confirmed.", "success")
    return await users.get(work.db, user.id)


async def _read(work: Work, link: Link | None) -> tuple[User, Errand]:
    user = await users.find_by_id(work.db, link.user_id) if link is not None else None
    if user is None or link is None:
        raise LinkOver
    try:
        errand = msgspec.json.decode(work.find(Sealer).open(link.plan, _PLACE), type=Errand)
    except ValueError as error:
        raise LinkOver from error
    if errand.before != user.email:
        raise LinkOver  # another address was set meanwhile
    return user, errand


async def _write(work: Work, user: User, address: str, *, by: int | None, by_name: str) -> None:
    """Take the address at its word. Another spelling of the one they have is as good as that one was."""
    if address == user.email:
        return
    if email_key(address) == user.email_key:
        await users.write(work.db, user.id, {"email": address}, work.now)
    elif not await owning.claim(work, user, address):
        await tell_owner(work, address, user.id)
    await _tell_changed(work, user, address, by=by, by_name=by_name)


async def _tell_changed(work: Work, user: User, address: str, *, by: int | None, by_name: str) -> None:
    diff = audit.difference({"email": user.email}, {"email": address})
    await audit.record(work, "user_write", "core.signups", user_id=by, username=by_name,
                       context={"created": False, "diff": diff})  # fmt: skip
    work.announce(UserChanged(user_id=user.id))
    if user.owns_email and email_key(address) != user.email_key:
        notices.tell(work, user.email, user.username, "The e-mail address of your account was changed.")
