"""Asking a service for a token and a profile."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from kith.base.http import Outgoing, OutgoingError
from kith.base.work import Work
from kith.identity.sources.oauth.addresses import may_ask
from kith.identity.sources.oauth.answers import cleaned
from kith.identity.sources.oauth.discovery import NotUsable, fetch_keys
from kith.identity.sources.oauth.id_tokens import (
    UnknownKey,
    Untrusted,
    algorithm_of,
    check_id_token,
    verified,
)
from kith.identity.sources.oauth.settings import Service, keep_keys

MOST_BYTES = 256 * 1024
SECONDS = 10.0
NOT_TOLD = "The other service did not tell us who you are. Please try again."
_ASKS = {"Accept": "application/json"}
FORM = {**_ASKS, "Content-Type": "application/x-www-form-urlencoded"}


class NoAnswer(Exception):  # noqa: N818 - what the service has given
    """The service did not say who somebody is. `words` are for the person, the message is for staff."""

    def __init__(self, reason: str, words: str = "") -> None:
        super().__init__(reason)
        self.words = words or NOT_TOLD


class ServiceTokens(msgspec.Struct, frozen=True):
    access_token: str
    id_token: str = ""


async def trade(work: Work, service: Service, *, code: str, redirect_uri: str, verifier: str) -> ServiceTokens:
    """The tokens for a code."""
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
    if service.pkce != "none":
        form["code_verifier"] = verifier
    headers = dict(FORM)
    if service.in_body or not service.client_secret:
        form["client_id"] = service.client_id
        if service.client_secret:
            form["client_secret"] = service.client_secret
    else:
        pair = f"{quote(service.client_id, safe='')}:{quote(service.client_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    told = await _ask(work, "POST", service.access_token_url, headers, urlencode(form).encode())
    token = told.get("access_token")
    if not isinstance(token, str) or not token:
        raise NoAnswer(f"no access token, but {told.get('error', 'something else')!s:.100}")
    id_token = told.get("id_token")
    return ServiceTokens(token, id_token if isinstance(id_token, str) else "")


async def read_profile(work: Work, service: Service, access_token: str) -> dict[str, Any]:
    headers = {**_ASKS, "Authorization": f"Bearer {access_token}"}
    found = await _ask(work, "GET", service.profile_url, headers, None)
    if service.preset.emails_url and not found.get("email_verified"):
        await _add_email(work, service, headers, found)
    return found


async def _add_email(work: Work, service: Service, headers: dict[str, str], profile: dict[str, Any]) -> None:
    """The primary address, from a list that says which are confirmed; it stands beside the profile."""
    url = service.preset.emails_url
    if not service.profile_url.startswith(service.preset.profile_url):
        url = f"{service.profile_url.rstrip('/')}/emails"
    try:
        answer = await work.find(Outgoing).request(
            "GET", url, headers=headers, max_bytes=MOST_BYTES, timeout=SECONDS, max_redirects=0
        )
        listed = cleaned(answer.json())
    except (OutgoingError, ValueError):
        return
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and one.get("primary") is True and one.get("verified") is True:
            profile["email"], profile["email_verified"] = one.get("email"), True


async def read_id_token(work: Work, source: str, service: Service, tokens: ServiceTokens, nonce: str) -> dict[str, Any]:
    """The claims of the ID token, which is compulsory. Keys that are new at the service are fetched once."""
    if not tokens.id_token:
        raise NoAnswer("there was no ID token")
    try:
        try:
            claims = verified(tokens.id_token, service.jwks)
        except UnknownKey:
            claims = verified(tokens.id_token, await newer_keys(work, source, service))
        check_id_token(
            claims,
            issuer=service.issuer,
            client_id=service.client_id,
            nonce=nonce,
            access_token=tokens.access_token,
            alg=algorithm_of(tokens.id_token),
            now=work.now.timestamp(),
        )
    except Untrusted as error:
        raise NoAnswer(f"the ID token is not to be believed: {error}") from error
    return claims


async def newer_keys(work: Work, source: str, service: Service) -> dict[str, Any]:
    if not service.jwks_url:
        raise Untrusted("no keys are known")
    try:
        keys = await fetch_keys(work.find(Outgoing), service.jwks_url)
    except NotUsable as error:
        raise Untrusted(f"the keys could not be fetched: {error}") from error
    if not keys["keys"]:
        raise Untrusted("the service shows no keys that can be used")
    async with work.aside() as aside:
        await keep_keys(aside, source, service, keys)
    return keys


async def _ask(work: Work, method: str, url: str, headers: dict[str, str], body: bytes | None) -> dict[str, Any]:
    if not may_ask(work.settings, url):
        raise NoAnswer("the address is not https")
    try:
        answer = await work.find(Outgoing).request(
            method, url, headers=headers, body=body, max_bytes=MOST_BYTES, timeout=SECONDS, max_redirects=0
        )
        told = cleaned(answer.json())
    except OutgoingError as error:
        raise NoAnswer(f"{urlsplit(url).hostname}: {error.reason}") from error
    except ValueError as error:
        raise NoAnswer(f"{urlsplit(url).hostname}: no JSON") from error
    if not isinstance(told, dict):
        raise NoAnswer(f"{urlsplit(url).hostname}: no object")
    if answer.status not in (200, 201):
        raise NoAnswer(f"{urlsplit(url).hostname}: status {answer.status}, {told.get('error', '')!s:.100}")
    return told
