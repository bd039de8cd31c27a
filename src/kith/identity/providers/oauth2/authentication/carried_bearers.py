"""The access token that a request to one of the engine's own endpoints must carry (RFC 6750)."""

from __future__ import annotations

from kith.base.exchange import Exchange
from kith.identity.providers.oauth2.authentication import bearers
from kith.identity.providers.oauth2.errors import OAuthError, invalid_request
from kith.identity.providers.oauth2.store import Bearer
from kith.identity.users.able_people import find_able

_REALM = 'Bearer realm="Kith"'


def bearer_refusal(error: str, description: str, status: int) -> OAuthError:
    told = f'{_REALM}, error="{error}", error_description="{description}"'
    return OAuthError(error, description, status=status, headers={"WWW-Authenticate": told})


def carried(exchange: Exchange, sent: dict[str, str]) -> str:
    """The token of a request, from its header or its form; never from the query."""
    scheme, _, rest = exchange.header(b"authorization").partition(b" ")
    by_header = rest.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""
    by_form = sent.get("access_token", "")
    if by_header and by_form:
        raise invalid_request("The access token is given in two ways.")
    if not by_header and not by_form:
        raise OAuthError(
            "invalid_request", "No access token was given.", status=401, headers={"WWW-Authenticate": _REALM}
        )
    return by_header or by_form


async def find_bearer(exchange: Exchange, sent: dict[str, str]) -> Bearer:
    """Who comes with a token that is good at this moment."""
    work = exchange.work
    bearer = await bearers.find(work, carried(exchange, sent))
    if bearer is None or (bearer.expires_at is not None and bearer.expires_at <= work.now):
        raise bearer_refusal("invalid_token", "The access token is unknown, expired or revoked.", 401)
    if bearer.user_id is not None and await find_able(work, bearer.user_id) is None:
        raise bearer_refusal("invalid_token", "Its owner may not do anything here.", 401)
    exchange.user_id = bearer.user_id
    await bearers.note_use(work, bearer)
    return bearer
