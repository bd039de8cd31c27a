"""App passwords and tokens, for programs that sign in to one's account."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from kith.base.errors import Invalid
from kith.base.exchange import Answer, Exchange
from kith.base.moments import read_moment
from kith.base.routing import FromPath, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import see_other
from kith.web.settings.forms import SECURITY_PAGE, SIGN_IN, password_problems, read_own_form, text_field
from kith.web.settings.frame import settings_page
from kith.web.settings.security import security_page
from kith.web.translation import translatable

MOST_CHARACTERS = 200
_TOO_LONG = translatable("This is too long.")


@post(f"{SECURITY_PAGE}/app-passwords")
async def make_app_password(exchange: Exchange, work: Work) -> Answer:
    return await _make(exchange, work, "app_password")


@post(f"{SECURITY_PAGE}/tokens")
async def make_token(exchange: Exchange, work: Work) -> Answer:
    return await _make(exchange, work, "api")


async def _make(exchange: Exchange, work: Work, intent: Any) -> Answer:
    """The answer is the one place where the new key is ever shown, so it is the page itself."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    try:
        name, scopes, expires_at = _read(form, work.now, intent)
        wrong = await password_problems(work, visitor, form)
        if wrong is not None:
            return await _ask(exchange, visitor, form, wrong)
        key = await identity.account_settings.make_key(
            work, visitor, intent, name, scopes=scopes, expires_at=expires_at
        )
    except Invalid as problem:
        errors = {f"{intent}_{field}": words for field, words in problem.fields.items()}
        return await security_page(exchange, work, visitor, status=400, errors=errors, form={intent: form})
    return await security_page(exchange, work, visitor, status=201, key=key, key_intent=intent)


async def _ask(exchange: Exchange, visitor: identity.Visitor, form: dict[str, Any], wrong: list[str]) -> Answer:
    """What was filled in goes along, so that the password is all that is left to give."""
    kept = {name: text_field(form, name) for name in ("description", "scopes", "expires")}
    return await settings_page(
        exchange,
        "settings/confirm_token.html",
        visitor,
        part="security",
        status=400 if wrong else 200,
        action=exchange.path,
        kept=kept,
        wrong=wrong,
    )


def _read(form: dict[str, Any], now: datetime, intent: str) -> tuple[str, str, datetime | None]:
    fields: dict[str, list[str]] = {}
    name, scopes = text_field(form, "description"), text_field(form, "scopes")
    if not name or len(name) > MOST_CHARACTERS:
        fields["description"] = [translatable("Please enter what it is for.") if not name else _TOO_LONG]
    if intent == "api" and (not scopes or len(scopes) > MOST_CHARACTERS):
        fields["scopes"] = [translatable("Please enter at least one scope.") if not scopes else _TOO_LONG]
    expires_at = None
    if text_field(form, "expires"):
        expires_at = _end_of(text_field(form, "expires"))
        if expires_at is None or expires_at <= now:
            fields["expires"] = [translatable("Please choose a date in the future.")]
    if fields:
        raise Invalid(fields=fields)
    return name, scopes, expires_at


def _end_of(day: str) -> datetime | None:
    """The end of that day."""
    begins = read_moment(day) if len(day) == len("2030-12-31") else None
    return None if begins is None else begins + timedelta(days=1)


@post(f"{SECURITY_PAGE}/tokens/{{id}}/revoke")
async def revoke_token(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    visitor, _ = await read_own_form(exchange)
    if visitor is not None:
        await identity.account_settings.revoke_token(work, visitor, id)
    return see_other(f"{SECURITY_PAGE}#keys")


routes = [make_app_password, make_token, revoke_token]
