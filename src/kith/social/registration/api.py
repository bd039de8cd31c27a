"""Signing up through an app: the account is made at once, and works once its address is confirmed."""

from __future__ import annotations

from datetime import date

import msgspec

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.routing import FromRequest, post
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.apps.entities import Token, render_issued
from kith.social.guards import TheCaller, app

SIGN_UPS = LimitRule("sign-up", most=5, seconds=1800)


class SignupForm(msgspec.Struct, kw_only=True):
    """What is missing or blank is for the verb to complain about, together with all the rest."""

    username: str | None = None
    email: str | None = None
    password: str | None = None
    agreement: bool | None = None
    locale: str | None = None
    reason: str | None = None
    date_of_birth: date | None = None
    invite_code: str | None = None


async def not_too_many(exchange: Exchange) -> None:
    exchange.spent = await exchange.find(Limiter).spend_strictly(SIGN_UPS, address_key(exchange.address))


@post("/api/v1/accounts", status=200, guards=[app("write:accounts"), not_too_many])
async def sign_up(work: Work, caller: TheCaller, draft: FromRequest[SignupForm]) -> Token:
    wish = identity.SignupRequest(
        username=(draft.username or "").strip().lower(),
        email=(draft.email or "").strip(),
        password=draft.password or "",
        agreement=bool(draft.agreement),
        locale=(draft.locale or "").strip(),
        reason=draft.reason or "",
        date_of_birth=draft.date_of_birth,
        invite_code=(draft.invite_code or "").strip(),
    )
    return render_issued(await identity.register_by_app(work, caller.app_id, wish))


routes = [sign_up]
