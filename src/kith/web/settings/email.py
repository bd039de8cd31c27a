"""The address to which mails to a person go; it is changed on /settings/security, and counts once it is confirmed."""

from __future__ import annotations

from kith.base.errors import Forbidden, Invalid
from kith.base.exchange import Answer, Exchange
from kith.base.routing import post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import see_other
from kith.web.settings.forms import SECURITY_PAGE, SIGN_IN, password_problems, read_own_form, text_field
from kith.web.settings.frame import settings_page
from kith.web.settings.saving import saved
from kith.web.settings.security import security_page
from kith.web.translation import translatable

_EMPTY = translatable("Please enter an address.")
_IS_NEW = translatable("Your e-mail address is changed.")


@post(f"{SECURITY_PAGE}/email")
async def change_email(exchange: Exchange, work: Work) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    if identity.brands.known(exchange).flows.get("user_settings"):
        return see_other("/flows/-/default/user_settings/")  # whoever runs the server has said how this is done
    if visitor.is_acting:
        raise Forbidden("This is not available while you are viewing as another person.")
    address = text_field(form, "email")
    try:
        if not address:
            raise Invalid(fields={"email": [_EMPTY]})
        identity.signups.check_address(address)
        wrong = await password_problems(work, visitor, form)
        if wrong is not None:
            return await _ask(exchange, visitor, address, wrong)
        is_changed = await identity.signups.change_own_address(work, visitor.user, address)
    except Invalid as problem:
        errors = {"email": problem.fields.get("email", [])}
        return await security_page(exchange, work, visitor, status=400, errors=errors, form={"email": address})
    if is_changed:
        return await saved(exchange, visitor, SECURITY_PAGE, _IS_NEW)
    return see_other(SECURITY_PAGE)


async def _ask(exchange: Exchange, visitor: identity.Visitor, address: str, wrong: list[str]) -> Answer:
    return await settings_page(
        exchange,
        "settings/confirm_email.html",
        visitor,
        part="security",
        status=400 if wrong else 200,
        action=exchange.path,
        kept={"email": address},
        wrong=wrong,
    )


routes = [change_email]
