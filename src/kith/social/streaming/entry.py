"""Who may listen, and to what: tokens, scopes, lists of one's own; refusals in the words of the streaming API."""

from __future__ import annotations

from collections.abc import Mapping

from kith.base.errors import Forbidden, Malformed, NotFound, Problem, Unauthenticated, Unprocessable
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, address_key
from kith.base.routing import number
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts.user_accounts import id_of
from kith.social.errors import PRIVATE
from kith.social.guards import ANONYMOUS, OUTSIDE, Guard, admit, find_key
from kith.social.lists import store as lists
from kith.social.streaming.channels import (
    EVERYBODY,
    NAMES,
    PUBLIC,
    TAGGED,
    Stream,
    of_direct,
    of_list,
    of_notifications,
    of_tag,
    of_token,
    of_user,
)
from kith.social.streaming.connections import Listener
from kith.social.timelines import home_feed

__all__ = ["NOTIFICATIONS", "STATUSES", "channels_of", "let_in", "listens", "prepare", "stream_of"]

STATUSES, NOTIFICATIONS = "read:statuses", "read:notifications"
MISSING = "Missing access token"
INVALID = "Invalid access token"
SCOPES = "Access token does not have the required scopes"
UNKNOWN = "Unknown stream type"
NO_TAG = "Missing tag name parameter"
NO_LIST = "Missing list name parameter"
NOT_YOURS = "Not authorized to stream this list"


async def let_in(exchange: Exchange, *scopes: str, offered: str = "") -> Listener:
    """The token is in the header or the query, or a socket's client has `offered` it as a protocol.

    Raises a refusal that says why in a header, too: of a socket's refusal some programs see nothing else.
    """
    try:
        bearer = await _bearer(exchange, await find_key(exchange) or offered, scopes)
        account_id = await id_of(exchange.work, bearer.user_id)  # type: ignore[arg-type]
    except Problem as problem:
        problem.headers["X-Error-Message"] = problem.message
        raise
    return Listener(
        account_id=account_id, user_id=bearer.user_id, key_hash=bearer.key_hash, scopes=bearer.scopes,  # type: ignore[arg-type]
        address=exchange.address, grant_uuid=bearer.grant_uuid, session_uuid=bearer.session_uuid,
    )  # fmt: skip


async def _bearer(exchange: Exchange, key: str | identity.PageSession, scopes: tuple[str, ...]) -> identity.Bearer:
    if not key:
        exchange.dialect = PRIVATE
        exchange.spent = exchange.find(Limiter).spend(ANONYMOUS, address_key(exchange.address))
        raise Unauthenticated(MISSING)
    try:
        return await admit(exchange, key, *scopes)
    except (Unauthenticated, Unprocessable) as refusal:
        raise Unauthenticated(INVALID, headers=refusal.headers) from refusal
    except Forbidden as refusal:
        if refusal.message == OUTSIDE:
            raise Unauthenticated(SCOPES) from refusal
        raise


def listens(scope: str) -> Guard:
    """A guard for event streams: whoever it lets in is `exchange.kept[Listener]`."""

    async def check(exchange: Exchange) -> None:
        exchange.kept[Listener] = await let_in(exchange, scope)

    return Guard((scope,), check)


def stream_of(asked: Mapping[str, object]) -> Stream:
    """What a client asks to hear, by its name and the list or the tag it needs."""
    name = asked.get("stream")
    if not isinstance(name, str) or name not in NAMES:
        raise Malformed(UNKNOWN)
    if name in TAGGED:
        tag = asked.get("tag")
        if not isinstance(tag, str) or not tag:
            raise Malformed(NO_TAG)
        return Stream(name, tag)
    if name == "list":
        list_id = asked.get("list")
        if not isinstance(list_id, str | int) or not str(list_id):
            raise Malformed(NO_LIST)
        return Stream(name, str(list_id))
    return Stream(name)


async def prepare(work: Work, listener: Listener, stream: Stream) -> tuple[str, ...]:
    """The channels of a stream, if the listener may hear it; whose home was not looked at for long gets one."""
    needed = NOTIFICATIONS if stream.name == "user:notification" else STATUSES
    if not identity.covers(listener.scopes.split(), needed):
        raise Unauthenticated(SCOPES)
    if stream.name == "list":
        await _check_list(work, listener, stream)
    if stream.name in ("user", "list"):
        await home_feed.is_ready(work, listener.account_id)
    return channels_of(listener, stream)


async def _check_list(work: Work, listener: Listener, stream: Stream) -> None:
    try:
        found = await lists.find(work.db, listener.account_id, number(stream.about))
    except NotFound:
        found = None
    if found is None:
        raise Unauthenticated(NOT_YOURS)


def channels_of(listener: Listener, stream: Stream) -> tuple[str, ...]:
    me = listener.account_id
    if stream.name in PUBLIC:
        return (stream.name,)
    if stream.name in TAGGED:
        return (of_tag(stream.about, local=stream.name == "hashtag:local"),)
    if stream.name == "list":
        return (of_list(int(stream.about)),)
    if stream.name == "direct":
        return (of_direct(me),)
    if stream.name == "user:notification":
        return (of_notifications(me),)
    own = (of_user(me), EVERYBODY, of_token(listener.key_hash))
    may_read = identity.covers(listener.scopes.split(), NOTIFICATIONS)
    return (*own, of_notifications(me)) if may_read else own
