"""Accounts that are registered through an app, and the app's token for them."""

from __future__ import annotations

import uuid
from typing import Any

import msgspec

from kith.base.errors import Conflict, Forbidden, Invalid
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.groups import store as groups
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.grants import service as oauth
from kith.identity.providers.oauth2.grants.service import GrantRequest, Issued
from kith.identity.registration import enrollment
from kith.identity.registration.enrollment import Decision
from kith.identity.registration.signup_request import SignupRequest, complain, complain_address
from kith.identity.signups import addresses
from kith.identity.signups import service as signups
from kith.identity.stages import invitation_checks
from kith.identity.stages.invitation_checks import Invitation
from kith.identity.stages.kinds.user_write import write_attributes
from kith.identity.users import store as users
from kith.identity.users.identifying_attributes import complain_upn
from kith.identity.users.names import email_key
from kith.identity.users.passwords import Passwords
from kith.identity.users.service import UserChanged
from kith.identity.users.tables import User

SIGNED_UP = "sign-up"  # how the grant came about; it marks the app that made the account
MAILS = LimitRule("confirm-mail-api", most=5, seconds=1800)


class Closed(Forbidden):
    code = "signup_closed"
    message = "Forbidden"


class NotTheirApp(Forbidden):
    message = "This method is only available to the application the user originally signed-up with"


class AlreadyConfirmed(Forbidden):
    message = "This method is only available while the e-mail is awaiting confirmation"


async def register(work: Work, app_id: int | None, wish: SignupRequest) -> Issued:
    """Make the account, and a token that works once the address is confirmed.

    Everything slow comes before the first write.
    """
    client = await clients.find_app(work, app_id) if app_id is not None else None
    if client is None:
        raise Closed
    decision, wish = await _decided(work, wish)
    mailed = await addresses.may_get_mail(work, wish.email)
    maker = None if decision.invitation is None else decision.invitation.created_by
    is_named = _fixed(decision).get("email") == wish.email
    user = await signups.register(
        work,
        work.find(Passwords),
        signups.NewSignup(
            username=wish.username,
            email=wish.email,
            password=wish.password,
            reason=wish.reason,
            locale=wish.locale.replace("_", "-"),
            client_name=client.name,
            invited=decision.invitation is not None,
            invited_by=maker,
            app_id=app_id,
            name=str(_fixed(decision).get("name", "")),
            confirmed=is_named and await invitation_checks.gives_address(work, maker, wish.email),
            autofollow=decision.invitation is not None and decision.invitation.autofollow,
        ),
    )
    await _settle(work, user, decision)
    if signups.must_confirm(work.settings, user) and mailed:
        await addresses.send(work, user, user.email)
    return await _give_token(work, client, user)


async def _decided(work: Work, wish: SignupRequest) -> tuple[Decision, SignupRequest]:
    flow, invitation = await enrollment.find_invitation(work, _as_uuid(wish.invite_code))
    if flow is None or (work.settings.registrations == "closed" and invitation is None):
        raise Closed
    wish = _as_invited(wish, invitation)
    inviter = invitation.created_by if invitation is not None else None
    complaints = await complain(work, wish, invited=invitation is not None, invited_by=inviter)
    if complaints:
        raise Invalid(fields=complaints)
    answers = {
        "username": wish.username,
        "name": "",
        "email": wish.email,
        "password": wish.password,
        "password_repeat": wish.password,
        "locale": wish.locale,
        signups.REASON: wish.reason,
    }
    decision = await enrollment.decide(work, flow, invitation, answers)
    if decision.refused:
        raise Closed
    if decision.complaints:
        raise Invalid(fields=decision.complaints)
    return decision, wish


def _as_invited(wish: SignupRequest, invitation: Invitation | None) -> SignupRequest:
    """What the invitation says comes before what was sent."""
    fixed = invitation.fixed_data if invitation is not None else {}
    said = {name: str(fixed[name]) for name in ("username", "email") if fixed.get(name)}
    return msgspec.structs.replace(wish, **said)


def _as_uuid(code: str) -> str:
    try:
        return str(uuid.UUID(code))
    except ValueError:
        return ""


def _fixed(decision: Decision) -> dict[str, Any]:
    return decision.invitation.fixed_data if decision.invitation is not None else {}


async def _settle(work: Work, user: User, decision: Decision) -> None:
    """What the flow's user_write stage would do besides."""
    used = decision.invitation
    if used is not None and not await invitation_checks.spend(work, used.invite_uuid, decision.flow.flow_uuid):
        raise Conflict  # of two who came with it at once, one is made and the other is not
    maker, fixed = used.created_by if used is not None else None, _fixed(decision)
    unsaid = await invitation_checks.names_without_say(work, maker, fixed)
    said = {name: value for name, value in fixed.items() if name not in unsaid}
    attributes = write_attributes(user.attributes, said, may_say=said)
    complaint = await complain_upn(work, user.attributes, attributes, user.id)
    if complaint is not None:
        raise Invalid(fields={"attributes": [complaint]})
    if attributes != user.attributes:
        await users.set_attributes(work.db, user.id, attributes, work.now)
    write = decision.write
    if write is not None:
        await users.place(work.db, user.id, type=write.user_type, active=not write.create_users_as_inactive)
        if write.create_users_group is not None:
            await groups.join(work.db, write.create_users_group, user.id)
    context = {"created": True, "fields": ["email", "password", "username"], "by": "app"}
    await audit.record(work, "user_write", "core.signups", user_id=user.id, username=user.username, context=context)


async def _give_token(work: Work, client: Client, user: User) -> Issued:
    scopes = list(client.scopes or ())
    grant = await oauth.open_grant(
        work, client, GrantRequest(scopes=scopes, user_id=user.id, auth_method=SIGNED_UP, auth_time=work.now)
    )
    context = {"authorized_application": client.name, "client": client.client_id, "scopes": " ".join(scopes)}
    await audit.record(
        work, "authorize_application", "providers.oauth2", user_id=user.id, username=user.username, context=context
    )
    return await oauth.issue(work, client, grant, scopes)


async def send_confirmation(work: Work, user_id: int, app_id: int | None, email: str | None) -> None:
    """Send the confirmation mail again, also to a corrected address. Only for the app that registered the account."""
    user = await users.get(work.db, user_id)
    made_by = [one for one in await store.grants_of_user(work.db, user_id) if one.auth_method == SIGNED_UP]
    if app_id is None or app_id not in {one.app_id for one in made_by}:
        raise NotTheirApp
    if user.confirmed_at is not None:
        raise AlreadyConfirmed
    await addresses.count_origin(work)
    await work.find(Limiter).spend_strictly(MAILS, str(user_id))  # first of all: the complaint tells what is taken
    if email is not None and email_key(email) != user.email_key:
        complaint = await complain_address(work, email, of=user.id)
        if complaint is not None:
            raise Invalid(fields={"email": [complaint]})
    mailed = await addresses.may_get_mail(work, email or user.email)
    if email is not None and email != user.email:
        user = await _readdress(work, user, email)
    if mailed:
        await addresses.send(work, user, user.email)


async def _readdress(work: Work, user: User, email: str) -> User:
    """Change the address. The old one was never confirmed, so no mail goes there."""
    values = {"email": email, "email_key": email_key(email), "owned_email_key": None, "email_verified_at": None}
    await users.write(work.db, user.id, values, work.now)
    diff = audit.difference({"email": user.email}, {"email": email})
    await audit.record(
        work,
        "user_write",
        "core.signups",
        user_id=user.id,
        username=user.username,
        context={"created": False, "diff": diff},
    )
    work.announce(UserChanged(user_id=user.id))
    return await users.get(work.db, user.id)


async def is_confirmed(work: Work, user_id: int) -> bool:
    return (await users.get(work.db, user_id)).confirmed_at is not None
