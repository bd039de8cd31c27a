"""People who prove themselves at the token endpoint: by an app password, and for Mastodon's apps by their own."""

from __future__ import annotations

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, Rule, address_key
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.callers import FAILURES
from kith.identity.factors import store as factors
from kith.identity.policies import scores
from kith.identity.providers.oauth2.errors import OAuthError, invalid_grant, missing
from kith.identity.tokens import store as tokens
from kith.identity.tokens.service import PREFIX, hash_key
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

# The same rule as at the password stage: for one name from one address.
BY_NAME = Rule("sign-in-name", most=10, seconds=600)
WRONG = "The username or password is wrong, or may not be used here."


def may_act(work: Work, user: User | None) -> bool:
    """Whether somebody may do anything at all at this moment."""
    if user is None or not user.is_active or user.approved_at is None:
        return False
    return user.confirmed_at is not None or not user.email or not work.settings.confirm_email


async def find_able(work: Work, user_id: int | None) -> User | None:
    user = await users.find_by_id(work.db, user_id) if user_id is not None else None
    return user if may_act(work, user) else None


async def by_app_password(exchange: Exchange, sent: dict[str, str]) -> User:
    """Only a key that its owner made for programs; never the password of the account itself."""
    return await _tried(exchange, sent, with_password=False)


async def by_password(exchange: Exchange, sent: dict[str, str]) -> User:
    """For Mastodon's apps, by name or e-mail address. Who has a second factor needs an app password."""
    return await _tried(exchange, sent, with_password=True)


async def _tried(exchange: Exchange, sent: dict[str, str], *, with_password: bool) -> User:
    for name in ("username", "password"):
        if name not in sent:
            raise missing(name)
    given, password, work = sent["username"].strip()[:320], sent["password"], exchange.work
    limiter, who = exchange.find(Limiter), address_key(exchange.address)
    name = f"{who}:{given}"[:150]
    await limiter.refuse_if_spent(FAILURES, who)
    await limiter.refuse_if_spent(BY_NAME, name)
    user = await _find(work, given)
    if user is not None and await _owns_key(work, user, password):
        right = True
    elif with_password:
        right = await work.find(Passwords).check(user.password if user is not None else None, password)
        right = right and user is not None and not await factors.has_any(work.db, user.id)
    else:
        right = False
    if right and user is not None and may_act(work, user):
        return user
    await _failed(exchange, user, given)
    await limiter.spend_strictly(FAILURES, who)
    await limiter.spend_strictly(BY_NAME, name)
    raise _wrong()


def _wrong() -> OAuthError:
    return invalid_grant(WRONG)


async def _find(work: Work, given: str) -> User | None:
    if "\0" in given:
        return None
    found = await users.find(work.db, given)
    if found is None:
        same = await users.with_email(work.db, given)
        found = same[0] if len(same) == 1 else None
    return found


async def _owns_key(work: Work, user: User, password: str) -> bool:
    if not password.startswith(PREFIX):
        return False
    token = await tokens.find_live(work.db, hash_key(password), work.now)
    if token is None or token.intent != "app_password" or token.user_id != user.id:
        return False
    async with work.aside() as aside:
        await tokens.touch(aside.db, token.token_uuid, work.now)
    return True


async def _failed(exchange: Exchange, user: User | None, given: str) -> None:
    async with exchange.work.aside() as aside:
        await scores.change(aside, identifier=user.username if user else given, ip=exchange.address, by=-1)
        if user is not None:
            await audit.record(
                aside, "login_failed", "providers.oauth2", user_id=user.id, username=given,
                context={"username": given, "auth_method": "oauth2 password grant"},
            )  # fmt: skip
