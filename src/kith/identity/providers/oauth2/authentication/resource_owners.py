"""People who prove themselves at the token endpoint: by an app password, and for Mastodon's apps by their own."""

from __future__ import annotations

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.admission import is_turned_away
from kith.identity.audit import service as audit
from kith.identity.factors import store as factors
from kith.identity.guessing import guess_limits as guessing
from kith.identity.hints import service as hints
from kith.identity.policies import reputation_scores
from kith.identity.providers.oauth2.errors import invalid_grant, missing
from kith.identity.security_stamp import stamp_of, still_counts
from kith.identity.tokens import store as tokens
from kith.identity.tokens.service import hash_key, may_be_token
from kith.identity.tokens.tables import ApiToken
from kith.identity.users import store as users
from kith.identity.users.able_people import may_act
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

WRONG = "The username or password is wrong, or may not be used here."


class ResourceOwner(msgspec.Struct, frozen=True):
    """Somebody who has proven who they are, and the app password they did it with, if it was one.

    `stamp` is their security stamp from before that. To check a password takes a while, in which it may be changed.
    """

    user: User
    app_password: ApiToken | None
    stamp: str


async def hold(work: Work, owner: ResourceOwner) -> None:
    """Open the transaction in which something is given to somebody; refuse if what they proved counts no more."""
    if not await still_counts(work, owner.user.id, owner.stamp):
        raise invalid_grant(WRONG)
    if owner.app_password is not None and await tokens.hold(work.db, owner.app_password.token_uuid) is None:
        raise invalid_grant(WRONG)


async def by_app_password(exchange: Exchange, sent: dict[str, str]) -> ResourceOwner:
    """Only a key that its owner made for programs; never the password of the account itself."""
    return await _tried(exchange, sent, with_password=False)


async def by_password(exchange: Exchange, sent: dict[str, str]) -> ResourceOwner:
    """For Mastodon's apps, by name or e-mail address. Who has a second factor needs an app password."""
    return await _tried(exchange, sent, with_password=True)


async def _tried(exchange: Exchange, sent: dict[str, str], *, with_password: bool) -> ResourceOwner:
    for name in ("username", "password"):
        if name not in sent:
            raise missing(name)
    given, password, work = sent["username"].strip()[:320], sent["password"], exchange.work
    user = await users.find_typed(work.db, given) if "\0" not in given else None
    stamp = await stamp_of(work, user.id) if user is not None else ""
    paid = await guessing.pay(exchange, work.db, user.id if user is not None else None, given)
    able = user is not None and may_act(work, user) and not await is_turned_away(work, user.id, user.email, user.role)
    has_factor = await factors.has_any(work.db, user.id if user is not None else 0)
    app_password = await _app_password_of(work, user, password) if user is not None else None
    right = app_password is not None
    hints_at = None
    if not right and with_password:
        knows = await work.find(Passwords).check(user.password if user is not None else None, password, anew=True)
        right = knows and not has_factor
        hints_at = user if knows and has_factor and able else None
    if right and able and user is not None:
        await paid.give_back()
        await guessing.entered_by_program(work, exchange, user.id)
        return ResourceOwner(user, app_password, stamp)
    await _failed(exchange, user, given, hints_at)
    raise invalid_grant(WRONG)


async def _app_password_of(work: Work, user: User, password: str) -> ApiToken | None:
    if not may_be_token(password):
        return None
    token = await tokens.find_live(work.db, hash_key(password), work.now)
    if token is None or token.intent != "app_password" or token.user_id != user.id:
        return None
    async with work.noting() as aside:
        await tokens.touch(aside.db, token.token_uuid, work.now)
    return token


async def _failed(exchange: Exchange, user: User | None, given: str, hints_at: User | None) -> None:
    async with exchange.work.aside() as aside:
        await reputation_scores.change(aside, identifier=user.username if user else given, ip=exchange.address, by=-1)
        if user is not None:
            await audit.record(
                aside,
                "login_failed",
                "providers.oauth2",
                user_id=user.id,
                username=given,
                context={"username": given, "auth_method": "oauth2 password grant"},
            )
        if hints_at is not None:
            await hints.tell_app_password(aside, hints_at)
