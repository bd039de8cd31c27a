"""An authorization request with the person it is for, and whether they have to sign in again."""

from __future__ import annotations

from typing import Literal

import msgspec

from kith.base.exchange import Exchange
from kith.identity.providers.oauth2.authorize import stored_requests
from kith.identity.providers.oauth2.authorize.authorization_request import AuthorizationRequest
from kith.identity.providers.oauth2.authorize.responses import Outcome
from kith.identity.providers.oauth2.authorize.stored_requests import KeptRequest
from kith.identity.providers.oauth2.claims.claims import acr_of, needed, subject
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.sign_on.outcomes import ErrorPage
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User

Decision = Literal["", "allow", "deny"]

DENIED = "The resource owner or authorization server denied the request."


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One authorization request, as it arrived."""

    exchange: Exchange
    kept: KeptRequest
    request: AuthorizationRequest
    scopes: list[str]
    consent_scopes: list[str]  # these, and those of the claims that were asked for by name
    moment: str = ""
    proof: str = ""
    decision: Decision = ""

    @property
    def client(self) -> Client:
        return self.request.client

    def proof_of_run(self, word: str) -> str:
        """What proves that the flow was run: the word that its end tells, for who the client was and what it asked.

        If either has changed while somebody looked at the page, they are asked anew.
        """
        return word and " ".join((word, self.client.identity, *self.consent_scopes))

    @property
    def is_silent(self) -> bool:
        return "none" in self.request.prompts


def is_too_old(attempt: Attempt, session: LoginSession) -> bool:
    """Whether they must sign in again. A sign-in after this was asked for counts."""
    request, now = attempt.request, attempt.exchange.work.now
    age = (now - session.created_at).total_seconds()
    if "login" not in request.prompts and (request.max_age is None or 0 < age <= request.max_age):
        return False
    moment = (
        stored_requests.read_moment(attempt.exchange, attempt.kept.values, attempt.moment) if attempt.moment else None
    )
    return moment is None or session.created_at < moment


async def is_hinted(attempt: Attempt, session: LoginSession, user: User) -> bool:
    """Whether the person signed in is the one whom the client expects, and signed in as it requires."""
    wanted = await _wanted(attempt)
    if wanted is not None and subject(attempt.exchange.work, attempt.client, user) not in wanted:
        return _may_try_again(attempt, OAuthError("login_required", "Somebody else is signed in."))
    levels = needed(attempt.request.claims, "acr", essential=True)
    if levels and acr_of(session.auth_method) not in levels:
        words = "They did not sign in with one of the methods that acr asks for."
        return _may_try_again(attempt, OAuthError("unmet_authentication_requirements", words))
    return True


def _may_try_again(attempt: Attempt, error: OAuthError) -> bool:
    """Whether they can be asked to sign in again; only once, as another time would not change anything."""
    moment = (
        stored_requests.read_moment(attempt.exchange, attempt.kept.values, attempt.moment) if attempt.moment else None
    )
    if moment is not None:
        raise error
    return False


async def _wanted(attempt: Attempt) -> list[str] | None:
    """The person whom the client expects, by `id_token_hint` or `claims`; None if anybody will do."""
    if attempt.client.is_social:
        return None
    named = needed(attempt.request.claims, "sub", essential=False)
    if not attempt.request.id_token_hint:
        return named or None
    try:
        told = await keys.verify(attempt.exchange.work, attempt.client, attempt.request.id_token_hint)
    except keys.BadToken as error:
        raise OAuthError("invalid_request", "The id_token_hint is not one of ours for this client.") from error
    hinted = str(told.get("sub"))
    return [hinted] if not named or hinted in named else []


def turn_away(attempt: Attempt, messages: list[str], refusal: str = "") -> Outcome:
    if attempt.is_silent:
        raise OAuthError("access_denied", DENIED)
    return ErrorPage(title="Not allowed", messages=messages, status=403, code="access_denied", refusal=refusal)
