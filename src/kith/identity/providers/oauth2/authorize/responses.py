"""What comes of an authorization request, for the pages to show; and how answers reach the client."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from kith.base.exchange import Headers
from kith.identity.providers.oauth2.authorize.authorization_request import Target, is_out_of_band
from kith.identity.providers.oauth2.authorize.redirect_uris import with_fragment, with_query
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.users.tables import User

NATIVE = "/oauth/authorize/native"


class ErrorPage(msgspec.Struct, frozen=True, kw_only=True):
    """`code` is for whoever looks after the application, the rest for whoever wanted to enter it.

    `refusal` is what they tell those who run the server, who then find out why.
    """

    title: str
    messages: list[str]
    status: int = 400
    code: str = ""
    refusal: str = ""


class Local(msgspec.Struct, frozen=True):
    """To one of our own pages: to sign in, to walk a flow, or on from there."""

    to: str
    headers: Headers = ()


class Redirect(msgspec.Struct, frozen=True):
    """To the client."""

    uri: str


class FormPost(msgspec.Struct, frozen=True):
    """To the client, as a form that the browser sends."""

    uri: str
    fields: dict[str, str]


class AskConsent(msgspec.Struct, frozen=True, kw_only=True):
    """An app of the social half asks for itself. `fields` come back with the answer."""

    client: Client
    redirect_uri: str
    user: User
    permissions: list[str]
    fields: dict[str, str]
    switch: str


Outcome = ErrorPage | Local | Redirect | FormPost | AskConsent


def deliver(target: Target, fields: dict[str, str]) -> Outcome:
    """An answer on its way, with what tells the client that it is its own, and ours."""
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


def refuse(target: Target, error: OAuthError) -> Outcome:
    if is_out_of_band(target):
        status = 403 if error.error == "access_denied" else 400
        words = error.description or error.error
        return ErrorPage(title="Access denied", messages=[words], status=status, code=error.error)
    return deliver(target, error.body())
