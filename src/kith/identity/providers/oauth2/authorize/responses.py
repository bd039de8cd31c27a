"""The results of an authorization request, and how responses reach the client."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from kith.identity.providers.oauth2.authorize.authorization_request import ResponseTarget, is_out_of_band
from kith.identity.providers.oauth2.authorize.redirect_uris import with_fragment, with_query
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.users.tables import User

NATIVE = "/oauth/authorize/native"


class Redirect(msgspec.Struct, frozen=True):
    """A redirect to the client."""

    uri: str


class FormPost(msgspec.Struct, frozen=True):
    """A form that the browser posts to the client."""

    uri: str
    fields: dict[str, str]


class AskConsent(msgspec.Struct, frozen=True, kw_only=True):
    """The consent page for an app of the social half. `fields` come back with the answer."""

    client: Client
    redirect_uri: str
    user: User
    permissions: list[str]
    fields: dict[str, str]
    switch: str


Outcome = ErrorPage | Local | Redirect | FormPost | AskConsent


def deliver(target: ResponseTarget, fields: dict[str, str]) -> Outcome:
    """The response with `state`, `iss` and the response mode."""
    if is_out_of_band(target):
        return Local(f"{NATIVE}?{urlencode({'code': fields['code']})}")
    told = dict(fields)
    if target.state is not None:
        told["state"] = target.state
    told["iss"] = target.issuer
    match target.mode:
        case "query":
            return Redirect(with_query(target.redirect_uri, told))
        case "fragment":
            return Redirect(with_fragment(target.redirect_uri, told))
        case "form_post":
            return FormPost(target.redirect_uri, told)


def refuse(target: ResponseTarget, error: OAuthError) -> Outcome:
    if is_out_of_band(target):
        status = 403 if error.error == "access_denied" else 400
        words = error.description or error.error
        return ErrorPage(title="Access denied", messages=[words], status=status, code=error.error)
    return deliver(target, error.body())
