"""Stored authorization requests: pushed ones, and those that wait while somebody signs in or runs a flow.

A stored request is named by a `request_uri`. A pushed one can be used once; it is then stored under another name for
as long as the person needs.
"""

from __future__ import annotations

import hmac
import json
from datetime import UTC, datetime, timedelta

from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.base.work import Work
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.authorize.authorization_request import Parameters, Unfit
from kith.identity.providers.oauth2.grants.service import hash_key, new_key
from kith.identity.providers.oauth2.tables import AuthorizationRequestRow

PREFIX = "urn:ietf:params:oauth:request_uri:"
PUSHED_LIFE = timedelta(seconds=90)
KEPT_LIFE = timedelta(hours=1)
MOMENT_LIFE = timedelta(hours=1)
# Parameters that we add to links back to a request.
MOMENT = "signed_in_after"
PROOF = "proof"
CANCELLED = "cancelled"
_OURS = frozenset({MOMENT, PROOF, CANCELLED, "csrf", "_method"})
_KEPT = "kept-"
_GONE = "This request has expired or was answered already. Please go back to the application and start again."


class KeptRequest(Parameters, frozen=True, kw_only=True):
    """The parameters of a request. `key` is its name if it is stored, else empty.

    `is_fixed`: it came as an object, and is to be stored rather than carried in links.
    """

    key: str = ""
    is_fixed: bool = False
    request: AuthorizationRequestRow | None = None


def new_name() -> str:
    return f"{_KEPT}{new_key()}"


async def keep(
    work: Work,
    client_id: str,
    values: dict[str, str],
    *,
    key: str,
    life: timedelta = KEPT_LIFE,
    proof: str | None = None,
    user_id: int | None = None,
) -> str:
    request = AuthorizationRequestRow(
        request_hash=hash_key(key),
        client_id=client_id,
        parameters=values,
        user_id=user_id,
        proof_hash=hash_key(proof) if proof is not None else None,
        expires_at=work.now + life,
    )
    await store.insert_request(work.db, request)
    return key


async def resolve(exchange: Exchange, sent: Parameters) -> KeptRequest:
    """The parameters sent, or those stored under the `request_uri`, which then count alone."""
    name = sent.get("request_uri")
    if not name.startswith(PREFIX):
        values = {one: value for one, value in sent.values.items() if one not in _OURS}
        return KeptRequest(values, sent.repeated)
    key = name.removeprefix(PREFIX)
    request = await _find(exchange, key)
    if request is None or request.client_id != sent.get("client_id") or sent.repeated:
        raise Unfit("Request error", _GONE)
    if key.startswith(_KEPT):
        return KeptRequest(request.parameters, key=key, request=request)
    async with exchange.work.aside() as work:
        if await store.claim_request(work.db, request.request_hash, work.now) is None:
            raise Unfit("Request error", _GONE)
        key = await keep(work, request.client_id, request.parameters, key=new_name())
    return KeptRequest(request.parameters, key=key, request=await _find(exchange, key))


async def _find(exchange: Exchange, key: str) -> AuthorizationRequestRow | None:
    work = exchange.work
    return await store.find_request(work.db, hash_key(key), work.now) if 0 < len(key) <= 100 else None


def is_proven(kept: KeptRequest, proof: str, user_id: int) -> bool:
    """Whether `proof` shows that this person has completed the flow."""
    request = kept.request
    if not proof or request is None or request.proof_hash is None or request.user_id != user_id:
        return False
    return hmac.compare_digest(request.proof_hash, hash_key(proof))


# The time after which somebody must have signed in; signed, so that a client cannot set it.


def sign_moment(exchange: Exchange, values: dict[str, str], moment: datetime) -> str:
    text = str(int(moment.timestamp() * 1000))
    return f"{text}.{_signature(exchange, values, text)}"


def read_moment(exchange: Exchange, values: dict[str, str], given: str) -> datetime | None:
    text, _, signature = given.partition(".")
    expected = _signature(exchange, values, text)
    if not hmac.compare_digest(signature.encode(), expected.encode()):
        return None
    moment = datetime.fromtimestamp(int(text) / 1000, UTC)
    return moment if exchange.work.now - moment < MOMENT_LIFE else None


def _signature(exchange: Exchange, values: dict[str, str], moment: str) -> str:
    told = json.dumps(["oauth2.moment", moment, sorted(values.items())]).encode()
    return hmac.new(exchange.find(Keys).session, told, "sha256").hexdigest()
